import { z } from 'zod';
import { jsonDepthMax } from './limits.ts';

/** A JSON value as parsed from the wire. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };
export type JsonObject = { readonly [key: string]: JsonValue };

/**
 * Takes the value as it is: a schema that rebuilds objects would drop a key named `__proto__`, and one that recurses
 * would run out of stack on a deep value. Nested at most `jsonDepthMax` levels.
 */
function isJson(value: unknown): boolean {
  const waiting: { readonly value: unknown; readonly depth: number }[] = [{ value, depth: 0 }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { value: part, depth } = next;
    if (part === null || typeof part === 'string' || typeof part === 'boolean') continue;
    if (typeof part === 'number' && Number.isFinite(part)) continue;
    if (typeof part !== 'object' || depth >= jsonDepthMax) return false;
    for (const inner of Array.isArray(part) ? part : Object.values(part))
      waiting.push({ value: inner, depth: depth + 1 });
  }
  return true;
}

const isJsonObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && isJson(value);

const problem = `JSON, nested at most ${jsonDepthMax} levels`;

export const jsonValueSchema = z.unknown().refine(isJson, problem) as unknown as z.ZodType<JsonValue>;
export const jsonObjectSchema = z
  .unknown()
  .refine(isJsonObject, `an object of ${problem}`)
  .meta({ type: 'object', additionalProperties: true }) as unknown as z.ZodType<JsonObject, JsonObject>;
