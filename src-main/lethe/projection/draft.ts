import type { Op } from '../../../src-preload/contract/changeset.ts';
import { opNumber } from '../rules/numbers.ts';
import type { Version } from '../rules/overlay.ts';
import type { Attachment } from '../tables/attachments.ts';
import type { Place } from '../tables/chains.ts';
import type { TouchStatus } from '../tables/touches.ts';
import { findMemoryNumber, madeMemoryId } from './identity.ts';
import type { Sight } from './sight.ts';

/** A memory as an op finds it. */
export interface Found {
  readonly memory: number;
  readonly status: TouchStatus;
  /** Of a retired memory the one that it was retired for, where there is one. */
  readonly linked: number | undefined;
  /** The state that an op goes on from. */
  state(): Version;
  /** The number under which the state that a retiring op leaves is stored. */
  readonly kept: number;
}

/** States as they change while ops are applied one after the other: later ones see what earlier ones did. */
export interface Draft {
  readonly sight: Sight;
  /** What the changeset sees: a restored state is one of theirs. */
  readonly parents: readonly Place[];
  readonly projectId: string;
  /** A memory as the ops begin with it; undefined where it is not known. */
  findBefore(memory: number): Found | undefined;
  /** What the ops so far have made of the memories that they have come across. */
  readonly found: Map<number, Found | undefined>;
  /** Ids that these ops named first. */
  readonly named: Map<string, number>;
  readonly versions: Map<number, Version>;
  readonly attachments: Map<number, Attachment>;
  readonly chosenIds: Map<number, string>;
  /** The ops have been applied before, over another state: their links are stored and are not to be made again. */
  readonly isReplay: boolean;
}

/** Opens the states that ops begin with. */
export function openDraft(
  from: Pick<Draft, 'sight' | 'parents' | 'projectId' | 'findBefore'>,
  isReplay: boolean,
): Draft {
  return {
    ...from,
    found: new Map(),
    named: new Map(),
    versions: new Map(),
    attachments: new Map(),
    chosenIds: new Map(),
    isReplay,
  };
}

/** An op and the changeset that it stands in. */
export interface PlacedOp {
  readonly op: Op;
  readonly seq: number;
  readonly changesetId: string;
}

/** The number of an op. */
export function keyOf({ seq, op }: PlacedOp): number {
  return opNumber(seq, op.ordinal);
}

/** A memory as the next op finds it, by its id. */
export function findMemory(draft: Draft, memoryId: string | undefined): Found | undefined {
  const memory = findNumber(draft, memoryId);
  if (memory === undefined) return undefined;
  if (!draft.found.has(memory)) draft.found.set(memory, draft.findBefore(memory));
  return draft.found.get(memory);
}

/** The number of a memory that these ops or others have named. */
export function findNumber(draft: Draft, memoryId: string | undefined): number | undefined {
  if (memoryId === undefined) return undefined;
  return draft.named.get(memoryId) ?? findMemoryNumber(draft.sight.db, draft.projectId, memoryId);
}

/** The number of the memory that an op names: known already, or the op's own. */
export function nameMemory(draft: Draft, placed: PlacedOp, chosenId: string | undefined): number {
  const number = keyOf(placed);
  const known = findNumber(draft, chosenId);
  if (known !== undefined) return known;
  draft.named.set(chosenId ?? madeMemoryId(placed.changesetId, placed.op.ordinal), number);
  if (chosenId !== undefined) draft.chosenIds.set(number, chosenId);
  return number;
}
