import type { Ratio, Row, WorkloadResult } from './rows.ts';

const columns = [
  '',
  'what',
  'p50 ms',
  'p95 ms',
  'p99 ms',
  'a second',
  'cpu ms',
  'MiB',
  'to the floor',
  'to the peer',
  'must reach',
  'reached',
] as const;
const leftAligned = new Set<string>(['', 'what', 'to the floor', 'to the peer', 'must reach', 'reached']);

/** The table of a run in Markdown, aligned so that it reads well in a terminal too. */
export function toTable(results: readonly WorkloadResult[]): string {
  const cells = results.flatMap((result) => result.rows.map((row) => cellsOf(row, result)));
  const widths = columns.map((column, at) =>
    Math.max(3, column.length, ...cells.map((line) => (line[at] ?? '').length)),
  );
  const lineOf = (line: readonly string[]): string =>
    `| ${line.map((cell, at) => (leftAligned.has(columns[at] ?? '') ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join(' | ')} |`;
  const rule = widths.map((width, at) =>
    leftAligned.has(columns[at] ?? '') ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  return [lineOf(columns), lineOf(rule), ...cells.map(lineOf)].join('\n');
}

function cellsOf(row: Row, result: WorkloadResult): readonly string[] {
  const first = result.rows[0] === row;
  return [
    first ? row.workload : '',
    row.what,
    milliseconds(row.p50_ms),
    milliseconds(row.p95_ms),
    milliseconds(row.p99_ms),
    row.per_second >= 100 ? String(Math.round(row.per_second)) : row.per_second.toPrecision(3),
    milliseconds(row.cpu_ms),
    first ? String(Math.round(result.peak_rss_mib)) : '',
    ratio(row.floor),
    ratio(row.peer),
    row.must ?? '',
    row.reached === null ? '' : row.reached ? 'yes' : 'NO',
  ];
}

function milliseconds(ms: number): string {
  return ms >= 100 ? ms.toFixed(0) : ms >= 1 ? ms.toFixed(1) : ms.toFixed(3);
}

/** `1.7 × plain SQLite insert (rate)`: more is better for a rate, less for a time. */
function ratio(found: Ratio | null): string {
  if (found === null) return '';
  const { ratio: times } = found;
  return `${times >= 99.5 ? times.toFixed(0) : times.toPrecision(2)} × ${found.to} (${found.by})`;
}
