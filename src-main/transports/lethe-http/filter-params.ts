import { z } from 'zod';
import { type Timestamp, timestampSchema } from '../../../src-preload/contract/ids.ts';
import type { MemoryFilter } from '../../lethe/rules/memory-filter.ts';
import { textField, textsField } from './body.ts';
import { type Asked, invalid, queryList, queryText } from './route.ts';

/** Fields of a filter in a body (`lethe.md` §0.5): lists of texts and moments, all optional. */
export const filterFields = {
  kinds: textsField,
  tags: textsField,
  visibilities: textsField,
  scopes: textsField,
  authors: textsField,
  trusts: textsField,
  since: textField,
  until: textField,
};
const filterBody = z.object(filterFields);

/** The filter of a query: each list is a parameter that is repeated; `kinds` and `tags` as `queryList` reads them. Throws INPUT_INVALID. */
export function queryFilter(asked: Asked): MemoryFilter {
  return {
    kinds: queryList(asked, 'kinds'),
    tags: queryList(asked, 'tags'),
    visibilities: unlessEmpty(asked.query.getAll('visibilities')),
    scopes: unlessEmpty(asked.query.getAll('scopes')),
    authors: unlessEmpty(asked.query.getAll('authors')),
    trusts: unlessEmpty(asked.query.getAll('trusts')),
    since: moment('since', queryText(asked, 'since')),
    until: moment('until', queryText(asked, 'until')),
  };
}

/** The filter of a body. Throws INPUT_INVALID. */
export function bodyFilter(body: z.infer<typeof filterBody>): MemoryFilter {
  const { kinds, tags, visibilities, scopes, authors, trusts } = body;
  return {
    kinds: unlessEmpty(kinds),
    tags: unlessEmpty(tags),
    visibilities: unlessEmpty(visibilities),
    scopes: unlessEmpty(scopes),
    authors: unlessEmpty(authors),
    trusts: unlessEmpty(trusts),
    since: moment('since', body.since),
    until: moment('until', body.until),
  };
}

/** A moment of a field, undefined when it is left out. Throws INPUT_INVALID when it is no time. */
export function moment(field: string, text: string): Timestamp | undefined {
  if (text === '') return undefined;
  const parsed = timestampSchema.safeParse(text);
  if (parsed.success) return parsed.data;
  throw invalid(field, `${field}: a moment is an RFC 3339 time in UTC, such as 2026-11-30T12:00:00Z`);
}

/** Values that are there; empty ones are left out. */
function unlessEmpty(values: readonly string[]): readonly string[] | undefined {
  const present = values.filter((value) => value !== '');
  return present.length === 0 ? undefined : present;
}
