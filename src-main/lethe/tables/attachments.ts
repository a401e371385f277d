import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';

/** What one op attached to a memory, as a link of the memory's list: its payload is the op's. */
export interface Attachment {
  readonly op: number;
  /** The op that attached what stands before it in the same list. */
  readonly previous: number | undefined;
  /** How many the list has up to here. */
  readonly count: number;
}

interface AttachmentRow {
  op: number;
  previous: number | null;
  count: number;
}

export const attachmentQueries = {
  byOp: 'SELECT op, previous, count FROM memory_attachments WHERE op = +?',
  ofOps: 'SELECT op, previous, count FROM memory_attachments WHERE op >= +? AND op <= +? ORDER BY op',
} as const;

/** The link that an op made. */
export function findAttachment(db: ReadableDb, op: number): Attachment | undefined {
  const row = db.query<[number], AttachmentRow>(attachmentQueries.byOp).get(op);
  return row === undefined ? undefined : toAttachment(row);
}

/** The links that ops from `from` to `upTo` made, both included: those of one changeset. */
export function listAttachmentsOfOps(db: ReadableDb, from: number, upTo: number): readonly Attachment[] {
  return db.query<[number, number], AttachmentRow>(attachmentQueries.ofOps).all(from, upTo).map(toAttachment);
}

/** Adds a link; links are never changed. */
export function insertAttachment(db: WritableDb, { op, previous, count }: Attachment): void {
  db.command<[number, number | null, number]>(
    'INSERT INTO memory_attachments (op, previous, count) VALUES (?, ?, ?)',
  ).run(op, previous ?? null, count);
}

function toAttachment({ op, previous, count }: AttachmentRow): Attachment {
  return { op, previous: previous ?? undefined, count };
}
