import type { AcceptedMemory } from '../../../../src-preload/contract/memory.ts';
import { sha256Hex } from '../../../canonical/digest.ts';
import { encodeCanonical } from '../../../canonical/json.ts';
import { lowerSimple, trimWhiteSpace } from '../../../canonical/text.ts';

/** What a memory says, as far as others are compared with it. */
export type ComparableState = Pick<AcceptedMemory, 'content' | 'kind' | 'payload'>;

/**
 * What two memories must share to be compared at all (`lethe.md` §7 rows 2 to 5, D7): the content, an explicit scope or
 * subject of decisions, the key and scope of facts.
 */
export type SemanticKey =
  | { readonly kind: 'content'; readonly content: string }
  | { readonly kind: 'decision_scope'; readonly scope: string }
  | { readonly kind: 'decision_subject'; readonly subject: string }
  | { readonly kind: 'fact'; readonly factKey: string; readonly scope: string };

/** The keys of a state, each kind once. `projectId` is the scope of a fact that names none. */
export function listSemanticKeys(projectId: string, state: ComparableState): readonly SemanticKey[] {
  const keys: SemanticKey[] = [];
  const content = trimWhiteSpace(state.content);
  if (content !== '') keys.push({ kind: 'content', content });
  const scope = textOf(state, 'scope');
  const subject = textOf(state, 'subject');
  if (isDecision(state)) {
    if (scope !== '') keys.push({ kind: 'decision_scope', scope });
    if (subject !== '') keys.push({ kind: 'decision_subject', subject });
  }
  const factKey = textOf(state, 'fact_key') || subject;
  if (state.kind === 'fact' && factKey !== '') keys.push({ kind: 'fact', factKey, scope: scope || projectId });
  return keys;
}

/** A memory of kind decision, or one whose content says so (`lethe.md` §7 row 3). */
export function isDecision(state: ComparableState): boolean {
  return state.kind === 'decision' || lowerSimple(state.content).includes('decision:');
}

/** A text that the ops gave a memory under a payload key: what a default filled in is not among them. Empty when absent. */
export function textOf({ payload }: ComparableState, key: string): string {
  const value = payload?.[key];
  return typeof value === 'string' ? value : '';
}

/** A key as text: equal for equal keys of one project. */
export function semanticKeyText(projectId: string, key: SemanticKey): string {
  switch (key.kind) {
    case 'content':
      return encodeCanonical([projectId, key.kind, key.content]);
    case 'decision_scope':
      return encodeCanonical([projectId, key.kind, key.scope]);
    case 'decision_subject':
      return encodeCanonical([projectId, key.kind, key.subject]);
    case 'fact':
      return encodeCanonical([projectId, key.kind, key.factKey, key.scope]);
  }
}

/** Hexadecimal digits of a key's digest that its number has: as many as a whole number of JavaScript holds. */
const keyDigits = 13;

/** The number under which the index keeps a key. Two keys may share one: who reads the index compares the keys themselves. */
export function semanticKeyNumber(keyText: string): number {
  return Number.parseInt(sha256Hex(keyText).slice(0, keyDigits), 16);
}
