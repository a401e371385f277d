import type { ConflictType } from '../../../../src-preload/contract/conflict.ts';
import type { JsonObject } from '../../../../src-preload/contract/json.ts';
import type { Finding, SaidStates } from './finding.ts';
import type { SemanticKey } from './keys.ts';

/** The heads of both sides: what was not compared is asked again when one of them moves. */
export interface ComparedHeads {
  readonly leftChangesetId: string;
  readonly rightChangesetId: string;
}

const typeByKind = {
  content: 'duplicate_content',
  decision_scope: 'contradictory_decision',
  decision_subject: 'contradictory_decision',
  fact: 'incompatible_fact',
} as const satisfies Record<SemanticKey['kind'], ConflictType>;

/** What is found of memories that share a key. */
export function typeOfKey({ kind }: SemanticKey): ConflictType {
  return typeByKind[kind];
}

/** Said instead of silence when more memories share a key than are compared (`L174`). */
export function tooManyOfKey(key: SemanticKey, heads: ComparedHeads): Finding {
  const summary = `Too many memories share ${nameOf(key)}: not all of them were compared`;
  return tooMany(typeOfKey(key), summary, detailsOf(key), heads);
}

/** Said instead of silence when there are more findings about pairs than are told (`L174`). */
export function tooManyFindings(type: ConflictType, heads: ComparedHeads, findingsMax: number): Finding {
  const summary = `More than ${findingsMax} pairs of memories do not go together: not all of them are listed`;
  return tooMany(type, summary, {}, heads);
}

function tooMany(type: ConflictType, summary: string, details: JsonObject, heads: ComparedHeads): Finding {
  const stateOf = (changesetId: string): SaidStates => new Map([[changesetId, null]]);
  return {
    type,
    severity: type === 'duplicate_content' ? 'info' : 'blocking',
    summary,
    details: { ...details, too_many: true },
    memoryIds: [],
    left: stateOf(heads.leftChangesetId),
    right: stateOf(heads.rightChangesetId),
  };
}

function nameOf(key: SemanticKey): string {
  switch (key.kind) {
    case 'content':
      return 'one content';
    case 'decision_scope':
      return `the scope ${key.scope}`;
    case 'decision_subject':
      return `the subject ${key.subject}`;
    case 'fact':
      return `the fact ${key.factKey} in scope ${key.scope}`;
  }
}

function detailsOf(key: SemanticKey): JsonObject {
  switch (key.kind) {
    case 'content':
      return { duplicate_content: key.content };
    case 'decision_scope':
      return { scope: key.scope };
    case 'decision_subject':
      return { scope: '', subject: key.subject };
    case 'fact':
      return { fact_key: key.factKey, scope: key.scope };
  }
}
