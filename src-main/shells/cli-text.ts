import { escapeInvisible, escapeInvisibleJson } from '../text/visible.ts';

/** Text from memory or from another program, safe to print on one line: what is not visible is written out as `\u{…}`. */
export function visible(text: string): string {
  return escapeInvisible(text);
}

/** Text of several lines, each made visible and indented. */
export function visibleLines(text: string, indent: string): string {
  return text
    .split('\n')
    .map((line) => `${indent}${visible(line)}`)
    .join('\n');
}

/** A value as one line of JSON; what a terminal would obey stays escaped, and it is still the same JSON. */
export function jsonLine(value: unknown): string {
  return escapeInvisibleJson(JSON.stringify(value));
}

/** An id for people: enough of both ends to tell two of one moment apart. */
export function shortId(id: string): string {
  return id.length <= 16 ? id : `${id.slice(0, 8)}…${id.slice(-4)}`;
}

/** Columns with a heading, aligned; cells are made visible. Nothing but the heading when there are no rows. */
export function table(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [heading, ...rows.map((row) => row.map(visible))];
  const widths = heading.map((_, column) => Math.max(...cells.map((row) => [...(row[column] ?? '')].length)));
  return cells
    .map((row) =>
      row
        .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - [...cell].length))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
