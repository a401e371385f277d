import type { ResolutionChoice } from '../../../src-preload/contract/conflict.ts';
import { summaryBytesMax } from '../../../src-preload/contract/limits.ts';

/**
 * What is kept with a conflict that a merge resolves: which proposal's merge, how, and as much of the reviewer's own note as
 * fits. A merge that does not land leaves it behind, so that it must say whose it is.
 */
export function resolutionNote(proposalId: string, choice: ResolutionChoice, note: string | undefined): string {
  const said = `By the merge of proposal ${proposalId}: ${choice}.`;
  if (note === undefined || note === '') return said;
  const room = summaryBytesMax - Buffer.byteLength(said) - 1;
  const cut = Buffer.from(note.toWellFormed())
    .subarray(0, room)
    .toString('utf8')
    .replace(/\uFFFD+$/u, '');
  return `${said} ${cut}`;
}

/** The proposal whose merge a resolved conflict was resolved by; undefined for one that was resolved in another way. */
export function proposalOfNote(note: string): string | undefined {
  return /^By the merge of proposal ([0-9a-f-]{36}): /.exec(note)?.[1];
}
