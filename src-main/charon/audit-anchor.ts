import { createReadStream } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { formatAnchorLine } from './rules/anchor-line.ts';
import type { AuditHead } from './rules/audit-entry.ts';
import type { AnchorState } from './tables/anchor-state.ts';

/**
 * The anchor (`charon.md` §6): an append-only file of `seq hash` lines beside the database, possibly on another disk,
 * that lets a replacement of the whole ledger be seen.
 */
export interface Anchor {
  /** Appends the head and makes it durable; does nothing when the file already ends there. One call at a time. */
  append(head: AuditHead): Promise<void>;
  /** What the database should know of the file by now. */
  state(): AnchorState;
  /** True when the file held less at opening than the database knew of. */
  readonly wasCut: boolean;
  close(): Promise<void>;
}

/**
 * Opens the anchor for appending, 0600. `known` is what the database knows of it: bytes are counted on from there even
 * when the file holds less, so that a cut stays visible. An unfinished last line, left by a crash, is taken off.
 */
export async function openAnchor(path: string, known: AnchorState): Promise<Anchor> {
  const file = await open(path, 'a+', 0o600);
  try {
    await file.chmod(0o600);
    const size = await dropUnfinishedLine(file);
    return anchorOn(file, size, known);
  } catch (thrown) {
    await file.close();
    throw thrown;
  }
}

function anchorOn(file: FileHandle, size: number, known: AnchorState): Anchor {
  let state: AnchorState = { bytes: Math.max(size, known.bytes), lastSeq: known.lastSeq };
  return {
    wasCut: size < known.bytes,
    state: () => state,
    append: async (head) => {
      if (head.seq <= state.lastSeq) return;
      const line = formatAnchorLine(head);
      await file.appendFile(line);
      await file.sync();
      state = { bytes: state.bytes + line.length, lastSeq: head.seq };
    },
    close: () => file.close(),
  };
}

/** Bytes up to the last line feed; what follows it is cut off. */
async function dropUnfinishedLine(file: FileHandle): Promise<number> {
  const { size } = await file.stat();
  const length = Math.min(size, 256);
  const { buffer } = await file.read({ buffer: Buffer.alloc(length), length, position: size - length });
  const keep = size - length + buffer.lastIndexOf(0x0a) + 1;
  if (length === 0 || keep === size) return size;
  await file.truncate(keep);
  return keep;
}

/** Size in bytes, or undefined when there is no such file. */
export async function anchorSize(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size;
  } catch {
    return undefined;
  }
}

/** The lines in the first `size` bytes of the file, oldest first, without loading it whole; none when there is no such file. */
export async function* readAnchorLines(path: string, size: number): AsyncGenerator<string> {
  if (size === 0) return;
  const stream = createReadStream(path, { encoding: 'utf8', end: size - 1 });
  const lines = createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY });
  try {
    yield* lines;
  } finally {
    lines.close();
    stream.destroy();
  }
}
