// The searchable text of a memory, and the tokens by which the index finds it. How text is cut: `text/pieces.ts`.

import type { AcceptedMemory } from '../../../src-preload/contract/memory.ts';
import { lowerSimple } from '../../canonical/text.ts';
import { addTextTokens, lettersOnly } from '../../text/pieces.ts';

/** The searchable text of one state of a memory (lethe.md §5.10). */
export interface MemoryText {
  readonly content: string;
  readonly kind: string;
  readonly scope: string;
  readonly tags: readonly string[];
}

/** The searchable fields of a memory, in the order in which §5.10 joins them. */
export const textFields = ['content', 'kind', 'scope', 'tags'] as const;
export type TextField = (typeof textFields)[number];

/** The searchable text of a memory as a head shows it; what it does not have is empty. */
export function memoryText(memory: Pick<AcceptedMemory, TextField>): MemoryText {
  const { content, kind = '', scope = '', tags = [] } = memory;
  return { content, kind, scope, tags };
}

/** The text of one field, tags joined by a space as in §5.10. */
export function fieldText(text: MemoryText, field: TextField): string {
  return field === 'tags' ? text.tags.join(' ') : text[field];
}

/** What §5.10 scores against: the lower-cased fields joined by spaces. */
export function contextText(text: MemoryText): string {
  return lowerSimple(textFields.map((field) => fieldText(text, field)).join(' '));
}

/** Index token of a memory's kind; looser than equality, so the text has the last word. */
export function kindToken(kind: string): string {
  return `k${lettersOnly(kind)}`;
}

/** Index token of one tag; looser than equality, so the text has the last word. */
export function tagToken(tag: string): string {
  return `t${lettersOnly(tag)}`;
}

/** Index token that all states of one memory share, by which a memory with many states is passed over. */
export function memoryToken(memory: number): string {
  return `m${memory}`;
}

/**
 * Every index token of one state of a memory, each once. Linear in the text. `memory` is the number all states of it
 * share. The tokens hold no ASCII but letters and digits, so that FTS5's `ascii` tokenizer splits at spaces alone.
 */
export function indexTokens(memory: number, text: MemoryText): ReadonlySet<string> {
  const tokens = new Set<string>([memoryToken(memory), kindToken(text.kind)]);
  for (const tag of text.tags) tokens.add(tagToken(tag));
  for (const field of textFields) addTextTokens(tokens, fieldText(text, field));
  return tokens;
}
