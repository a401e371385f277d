import type { AuditHead } from './audit-entry.ts';

/** One line of the anchor file: the place of an entry and its hash (`charon.md` §6). */
export function formatAnchorLine(head: AuditHead): string {
  return `${head.seq} ${head.hash}\n`;
}

/** A line without its line feed, or undefined for what is none. */
export function parseAnchorLine(line: string): AuditHead | undefined {
  const found = /^([1-9][0-9]{0,15}) ([0-9a-f]{64})$/.exec(line);
  if (found?.[1] === undefined || found[2] === undefined) return undefined;
  return { seq: Number(found[1]), hash: found[2] };
}
