import type { Lethe } from '../lethe/api.ts';

/** A verb that may be answered by another process: what it answers is waited for, wherever it runs. */
type Waited<Verb> = Verb extends (...input: infer Input) => infer Output
  ? (...input: Input) => Awaited<Output> | Promise<Awaited<Output>>
  : never;

type Verbs =
  | 'listProjects'
  | 'getProject'
  | 'initProject'
  | 'listRefs'
  | 'findRef'
  | 'createRef'
  | 'archiveRef'
  | 'countAheadBehind'
  | 'commit'
  | 'commitCreatingRef'
  | 'findChangeset'
  | 'findChangesetByKey'
  | 'log'
  | 'graph'
  | 'isAncestor'
  | 'context'
  | 'totalActive'
  | 'pinContext'
  | 'manifestContext'
  | 'recordOutputManifest'
  | 'search'
  | 'getMemory'
  | 'diff'
  | 'mergePreview'
  | 'originators'
  | 'detectConflicts'
  | 'persistConflicts'
  | 'resolveConflict'
  | 'retireConflicts'
  | 'listConflicts'
  | 'advance'
  | 'findAdvance'
  | 'listAdvances'
  | 'listRefMoves'
  | 'verifyChain';

/**
 * What commands and the policy engine need of a store, in whichever process it runs: verbs of the store, with its own inputs,
 * answers and faults (`design.md` §1.2). The store of this process is one as it is; a store elsewhere is one over HTTP, and may
 * throw `STORE_UNAVAILABLE` at every verb.
 */
export type MemoryStore = { readonly [Verb in Verbs]: Waited<Lethe[Verb]> };
