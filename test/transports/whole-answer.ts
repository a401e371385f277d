import { z } from 'zod';
import type { AgentClient } from '../support/mcp-clients.ts';

const partSchema = z.strictObject({
  path: z.string(),
  form: z.enum(['text', 'items', 'json']),
  offset: z.int(),
  text: z.string(),
  last: z.boolean(),
});
const restSchema = z.strictObject({ rest: z.array(partSchema).min(1), rest_cursor: z.string().optional() });

type Fields = Record<string, unknown>;
type Piece = { readonly path: string; readonly form: z.infer<typeof partSchema>['form']; readonly text: string };

/** Bytes of a value as it goes over the wire. */
export function sent(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** Puts what was cut off back into an answer, which it changes. */
export function wholeOf(shown: Fields, pieces: readonly Piece[]): Fields {
  for (const { path, form, text } of pieces) {
    const keys = path
      .split('/')
      .slice(1)
      .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = keys.pop() ?? '';
    let holder: unknown = shown;
    for (const key of keys) holder = Reflect.get(Object(holder), key);
    const held = Reflect.get(Object(holder), last);
    if (form === 'json') Reflect.set(Object(holder), last, JSON.parse(text));
    else if (form === 'text') Reflect.set(Object(holder), last, `${held}${text}`);
    else z.array(z.unknown()).parse(held);
    if (form === 'items' && Array.isArray(held)) held.push(...z.array(z.unknown()).parse(JSON.parse(text)));
  }
  return shown;
}

/** A tool's answer, made whole by following its rest; `parts` says in how many answers it came. */
export async function callWhole(
  client: AgentClient,
  tool: string,
  input: Fields,
): Promise<{ readonly whole: Fields; readonly parts: number }> {
  const first = await client.call(tool, input);
  if (first.isError) throw new Error(`${tool}: ${first.text.slice(0, 300)}`);
  const { cut, rest_cursor: restCursor, ...shown } = first.structured;
  const texts = new Map<string, Piece>();
  let parts = 1;
  for (let cursor = restCursor; typeof cursor === 'string'; parts += 1) {
    const answer = restSchema.parse((await client.call(tool, { ...input, cursor })).structured);
    for (const { path, form, offset, text } of answer.rest) {
      const before = texts.get(`${form}${path}`)?.text ?? '';
      if (before.length !== offset) throw new Error(`${tool}: a piece of ${path} is missing or came twice`);
      texts.set(`${form}${path}`, { path, form, text: before + text });
    }
    cursor = answer.rest_cursor;
  }
  return { whole: wholeOf(structuredClone(shown), [...texts.values()]), parts };
}
