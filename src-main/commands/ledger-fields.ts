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
    if (issue.code !== 'unrecognized_keys') return [{ field, message: issue.message }];
    return issue.keys.map((key) => ({
      field: [field, key.slice(0, 128)].filter((part) => part !== '').join('.'),
      message: 'there is no such field; leave it out',
    }));
  });
}

/** The input as the schema has it. Throws INPUT_INVALID with all that is wrong in `fields`. */
export function parseFields<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const fields = wrongFields(schema, input);
  const [first] = fields;
  const message = `${first?.field === '' || first === undefined ? 'the body' : first.field}: ${first?.message ?? 'cannot be read'}`;
  throw new Fault('INPUT_INVALID', message, { field: first?.field ?? '', fields });
}
