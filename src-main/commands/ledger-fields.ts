import type { z } from 'zod';
import { Fault } from '../base/fault.ts';

/** One thing that is wrong with an input: where, and what would be right. */
export interface WrongField {
  readonly field: string;
  readonly message: string;
}

/** Everything that a schema finds wrong with an input; unknown keys by their names. Never a value. */
export function wrongFields(schema: z.ZodType, input: unknown): readonly WrongField[] {
  const parsed = schema.safeParse(input);
  if (parsed.success) return [];
  return parsed.error.issues.flatMap((issue) => {
    const field = issue.path.map(String).join('.');
    if (issue.code !== 'unrecognized_keys')
      return [{ field, message: isMissing(input, issue.path) ? missing : issue.message }];
    return issue.keys.map((key) => ({
      field: [field, key.slice(0, 128)].filter((part) => part !== '').join('.'),
      message: 'there is no such field; leave it out',
    }));
  });
}

/** What is said of a field that is needed and not there. */
const missing = 'is missing; send it';

function isMissing(input: unknown, path: readonly PropertyKey[]): boolean {
  const [name, ...rest] = path;
  if (name === undefined || typeof input !== 'object' || input === null) return false;
  const field = Object.getOwnPropertyDescriptor(input, name);
  return field === undefined || (rest.length > 0 && isMissing(field.value, rest));
}

/** One sentence about an input: the first thing that is wrong with it. */
export function sentenceOf([first]: readonly WrongField[]): string {
  if (first === undefined) return 'The body cannot be read. Send a JSON object.';
  return `${first.field === '' ? 'the body' : first.field}: ${first.message}`;
}

/** The input as the schema has it. Throws INPUT_INVALID with all that is wrong in `fields`. */
export function parseFields<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const fields = wrongFields(schema, input);
  throw new Fault('INPUT_INVALID', sentenceOf(fields), { field: fields[0]?.field ?? '', fields });
}
