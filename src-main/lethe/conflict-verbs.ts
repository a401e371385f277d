import type { Conflict } from '../../src-preload/contract/conflict.ts';
import type { ConflictVerbs } from './conflict-api.ts';
import { listConflicts } from './conflicts-list.ts';
import { persistFindings, selectFindings } from './conflicts-persist.ts';
import { resolveConflict, retireConflicts } from './conflicts-settle.ts';
import type { ReadVerb, Write } from './lethe-verbs.ts';
import type { VerbContext } from './verb-context.ts';

/** Conflicts of one transaction, so that it stays short: keeping and retiring can be repeated, and then go on. */
export const conflictsPerWrite = 200;

/** The verbs of conflicts over the store's reading and writing. */
export function conflictVerbs(read: ReadVerb, write: Write, context: VerbContext): ConflictVerbs {
  return {
    detectConflicts: (sides) => read((db) => context.detector.detect(db, sides)),
    // Detected before the writes: between the same changesets the answer is the same for ever, and the batch is not held up by it.
    persistConflicts: async (input) => {
      const findings = read((db) => selectFindings(db, context.detector, input));
      const kept: Conflict[] = [];
      for (let from = 0; from < findings.length; from += conflictsPerWrite) {
        const some = findings.slice(from, from + conflictsPerWrite);
        kept.push(...(await write((db, emit) => persistFindings(db, emit, context, input, some))));
      }
      return kept;
    },
    resolveConflict: (input) => write((db, emit) => resolveConflict(db, emit, context, input)),
    retireConflicts: async (input) => {
      let retired = 0;
      for (let more = true; more; ) {
        const some = await write((db, emit) => retireConflicts(db, emit, context, input, conflictsPerWrite));
        retired += some.retired;
        more = some.more;
      }
      return retired;
    },
    listConflicts: (input) => read((db) => listConflicts(db, input)),
  };
}
