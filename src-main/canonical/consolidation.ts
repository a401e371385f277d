// What a consolidation policy is signed over (ledger.md §5). The text of its parameters is what Python writes with
// json.dumps(params, sort_keys=True, separators=(",", ":")), so that an agent in any language can make the same bytes.

import type { JsonObject, JsonValue } from '../../src-preload/contract/json.ts';
import { Fault } from '../base/fault.ts';
import { createVerifier } from './signature.ts';

export const amendScheme = 'lithtrix.consolidation.amend.v1';

/**
 * The canonical text of a policy's parameters: no white space, keys by code point, all but printable ASCII escaped as
 * `\uXXXX` in lower case, a pair for what lies beyond. Numbers are integers that JavaScript holds exactly, else throws
 * CONSOLIDATION_POLICY_PARAMS_INVALID.
 */
export function canonicalParams(params: JsonValue): string {
  if (typeof params === 'string') return quote(params);
  if (typeof params === 'number') return integer(params);
  if (params === null || typeof params === 'boolean') return String(params);
  if (isList(params)) return `[${params.map(canonicalParams).join(',')}]`;
  const fields = Object.entries(params).sort(([one], [other]) => compareCodePoints(one, other));
  return `{${fields.map(([name, value]) => `${quote(name)}:${canonicalParams(value)}`).join(',')}}`;
}

/** The parts of an amendment that are signed. */
export interface Amendment {
  readonly challengeId: string;
  readonly challengeNonce: string;
  readonly templateId: string;
  readonly params: JsonObject;
  readonly issuedAt: string;
  readonly expiresAt: string;
}

/** The text under an amendment's signature: seven lines, no line feed at the end. Throws as `canonicalParams`. */
export function amendmentText(amendment: Amendment): string {
  return [
    amendScheme,
    amendment.challengeId,
    amendment.challengeNonce,
    amendment.templateId,
    canonicalParams(amendment.params),
    amendment.issuedAt,
    amendment.expiresAt,
  ].join('\n');
}

/**
 * True when the signature, the standard base64 of 64 bytes, is that of the text under a passport's key, the raw 32 bytes in
 * base64url. A malformed signature or key is false.
 */
export function verifyPassportSignature(publicKey: string, text: string, signature: string): boolean {
  const bytes = Buffer.from(signature, 'base64');
  if (bytes.toString('base64') !== signature) return false;
  return createVerifier(publicKey)?.(text, bytes.toString('base64url')) ?? false;
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function integer(value: number): string {
  if (Number.isSafeInteger(value)) return String(value);
  throw new Fault(
    'CONSOLIDATION_POLICY_PARAMS_INVALID',
    'params: numbers are integers between -9007199254740991 and 9007199254740991. Write others as text.',
  );
}

const SHORT: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\b': '\\b',
  '\f': '\\f',
};

/** Unit by unit: a lone surrogate is written as it is. */
function quote(text: string): string {
  const escaped = text.replace(
    /["\\]|[^ -~]/g,
    (unit) => SHORT[unit] ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `"${escaped}"`;
}

/** By code points, lone surrogates by their own number. */
function compareCodePoints(one: string, other: string): number {
  const [left, right] = [[...one], [...other]];
  for (const [index, character] of left.entries()) {
    const difference = (character.codePointAt(0) ?? 0) - (right[index]?.codePointAt(0) ?? -1);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}
