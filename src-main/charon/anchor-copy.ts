import { open } from 'node:fs/promises';
import { Fault } from '../base/fault.ts';
import { readAnchorLines } from './audit-anchor.ts';
import { parseAnchorLine } from './rules/anchor-line.ts';

/** Some hundreds of lines: more than come while a backup is made. */
const tailBytes = 65_536;

/**
 * How many bytes of an anchor are about entries up to `seq`: where a copy of it that belongs to a ledger of that length ends.
 * Throws INTEGRITY_MISMATCH when there is no anchor.
 */
export async function anchorBytesUpTo(path: string, seq: number): Promise<number> {
  const { size, tail } = await readTail(path);
  const start = size - tail.length;
  const first = start === 0 ? 0 : tail.indexOf(0x0a) + 1;
  const lines = tail.toString('latin1', first).split('\n').slice(0, -1);
  const isCovered = start === 0 || (parseAnchorLine(lines[0] ?? '')?.seq ?? seq + 1) <= seq;
  if (isCovered) return start + first + bytesUpTo(lines, seq);
  let bytes = 0;
  for await (const line of readAnchorLines(path, size)) {
    if ((parseAnchorLine(line)?.seq ?? 0) > seq) break;
    bytes += line.length + 1;
  }
  return Math.min(bytes, size);
}

function bytesUpTo(lines: readonly string[], seq: number): number {
  const end = lines.findIndex((line) => (parseAnchorLine(line)?.seq ?? 0) > seq);
  return lines.slice(0, end < 0 ? lines.length : end).reduce((bytes, line) => bytes + line.length + 1, 0);
}

async function readTail(path: string): Promise<{ readonly size: number; readonly tail: Buffer }> {
  const file = await open(path, 'r').catch((thrown: unknown) => {
    throw new Fault(
      'INTEGRITY_MISMATCH',
      'The anchor of the audit ledger is missing. Put it back, or look at charon ledger verify.',
      {},
      { cause: thrown },
    );
  });
  try {
    const { size } = await file.stat();
    const length = Math.min(size, tailBytes);
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(length), length, position: size - length });
    return { size, tail: buffer.subarray(0, bytesRead) };
  } finally {
    await file.close();
  }
}
