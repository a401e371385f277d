import type { ConflictVerbs } from './conflict-api.ts';
import { listConflicts } from './conflicts-list.ts';
import { persistFindings, selectFindings } from './conflicts-persist.ts';
import { resolveConflict, retireConflicts } from './conflicts-settle.ts';
import { detectConflicts } from './detection.ts';
import type { ReadVerb, Write } from './lethe-verbs.ts';
import type { VerbContext } from './verb-context.ts';

/** The verbs of conflicts over the store's reading and writing. */
export function conflictVerbs(read: ReadVerb, write: Write, context: VerbContext): ConflictVerbs {
  return {
    detectConflicts: (sides) => read((db) => detectConflicts(db, sides)),
    // Detected before the write: between the same changesets the answer is the same for ever, and the batch is not held up by it.
    persistConflicts: async (input) => {
      const findings = read((db) => selectFindings(db, input));
      return write((db, emit) => persistFindings(db, emit, context, input, findings));
    },
    resolveConflict: (input) => write((db, emit) => resolveConflict(db, emit, context, input)),
    retireConflicts: (input) => write((db, emit) => retireConflicts(db, emit, context, input)),
    listConflicts: (input) => read((db) => listConflicts(db, input)),
  };
}
