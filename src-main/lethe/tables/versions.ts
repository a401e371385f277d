import { z } from 'zod';
import type { JsonObject } from '../../../src-preload/contract/json.ts';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';
import type { Version } from '../rules/overlay.ts';
import { findOpPayload } from './ops.ts';

const bodySchema = z.strictObject({
  i: z.int(),
  p: z.record(z.string(), z.int()),
  f: z.partialRecord(z.enum(['content', 'event_type', 'kind', 'scope', 'visibility', 'tags', 'confidence']), z.int()),
  e: z.int().optional(),
  v: z.int().optional(),
});

/** The row of a state that a correction, a proposed deprecation or an attachment made; a state that an op started has none. */
export function findVersion(db: ReadableDb, version: number): Version | undefined {
  const row = db.query<[number], { body: string }>('SELECT body FROM memory_versions WHERE version = ?').get(version);
  if (row === undefined) return undefined;
  const body = bodySchema.parse(JSON.parse(row.body));
  return { version, introduced: body.i, fields: body.f, payload: body.p, evidence: body.e, verification: body.v };
}

/** Adds the row of a state that grew out of another. */
export function insertVersion(db: WritableDb, version: Version): void {
  const body = JSON.stringify({
    i: version.introduced,
    p: version.payload,
    f: version.fields,
    e: version.evidence,
    v: version.verification,
  });
  db.command<[number, string]>('INSERT INTO memory_versions (version, body) VALUES (?, ?)').run(version.version, body);
}

/** The payload of an op, `{}` when it has none. It was written as the plain encoding of a parsed object. */
export function readPayload(db: ReadableDb, op: number): JsonObject {
  const body = findOpPayload(db, op);
  return body === undefined ? {} : (JSON.parse(body) as JsonObject);
}
