import { constants, createReadStream } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { Fault } from '../base/fault.ts';
import { formatAnchorLine, parseAnchorLine } from './rules/anchor-line.ts';
import type { AuditHead } from './rules/audit-entry.ts';
import type { AnchorState } from './tables/anchor-state.ts';

const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | (constants.O_NONBLOCK ?? 0);
/** More than the two last lines take. */
const tailBytes = 256;

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
 * Opens the anchor for appending, 0600. `known` is what the database knows of it, at most one line behind the file: bytes
 * are counted on from there even when the file holds less, so that a cut stays visible. An unfinished last line, left
 * by a crash, is taken off. Throws AUDIT_UNAVAILABLE, which names no path, when it cannot be opened or is no file.
 */
export async function openAnchor(path: string, known: AnchorState): Promise<Anchor> {
  let file: FileHandle | undefined;
  try {
    // Without waiting: a pipe of that name would otherwise hold up the start.
    file = await open(path, flags, 0o600);
    if (!(await file.stat()).isFile()) throw anchorRefused();
    await file.chmod(0o600);
    const found = await endOf(file);
    if (found.torn) await file.truncate(found.bytes);
    return anchorOn(file, found, known);
  } catch (thrown) {
    await file?.close();
    throw thrown instanceof Fault ? thrown : anchorRefused(thrown);
  }
}

function anchorRefused(cause?: unknown): Fault {
  return new Fault(
    'AUDIT_UNAVAILABLE',
    'The anchor of the audit ledger cannot be opened to be written. Check its folder, its disk and its permissions (CHARON_LEDGER_ANCHOR_PATH says where it is kept, else it is in the home), then start again.',
    {},
    { cause },
  );
}

function anchorOn(file: FileHandle, found: AnchorState, known: AnchorState): Anchor {
  let state: AnchorState = {
    bytes: Math.max(found.bytes, known.bytes),
    lastSeq: Math.max(found.lastSeq, known.lastSeq),
  };
  return {
    wasCut: found.bytes < known.bytes,
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

/** Where the last whole line ends and what it records; `torn` when more follows. */
async function endOf(file: FileHandle): Promise<AnchorState & { readonly torn: boolean }> {
  const { size } = await file.stat();
  const length = Math.min(size, tailBytes);
  if (length === 0) return { bytes: 0, lastSeq: 0, torn: false };
  const { buffer } = await file.read({ buffer: Buffer.alloc(length), length, position: size - length });
  const end = buffer.lastIndexOf(0x0a) + 1;
  const lines = buffer.toString('latin1', 0, end).split('\n');
  const last = parseAnchorLine(lines.at(-2) ?? '');
  const bytes = size - length + end;
  return { bytes, lastSeq: last?.seq ?? 0, torn: bytes < size };
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
