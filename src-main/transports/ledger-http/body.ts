import { Fault } from '../../base/fault.ts';

/**
 * A body as JSON, whatever its keys are named; undefined for an empty one (`ledger.md` §2). How deep a value may be is for
 * whoever takes it to say. Throws BODY_INVALID, which repeats nothing of the body.
 */
export function readLedgerBody(bytes: unknown): unknown {
  if (!Buffer.isBuffer(bytes) || bytes.length === 0) return undefined;
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return value;
  } catch {
    throw new Fault('BODY_INVALID', 'The body is not JSON in UTF-8. Send one JSON value.', { field: '' });
  }
}

/** The fields of a body that must be an object. Throws INPUT_INVALID. */
export function bodyFields(body: unknown): Readonly<Record<string, unknown>> {
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return { ...body };
  throw new Fault('INPUT_INVALID', 'The body must be a JSON object. Send {"value": …} or the fields of this route.', {
    field: '',
  });
}

/** The version that `If-Match` names, with or without quotes. Throws INPUT_INVALID for anything else. */
export function readIfMatch(header: string | undefined): { readonly if_version?: number } {
  if (header === undefined) return {};
  const version = /^\s*"?(\d{1,15})"?\s*$/.exec(header)?.[1];
  if (version !== undefined && Number(version) >= 1) return { if_version: Number(version) };
  throw new Fault('INPUT_INVALID', 'If-Match: is not a version. Send the version of the key in quotes, such as "3".', {
    field: 'If-Match',
  });
}
