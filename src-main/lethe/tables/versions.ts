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

interface VersionRow {
  version: number;
  body: string;
}

/** The numbers that are wanted are bound as a JSON array: one statement for however many there are. */
export const versionQueries = {
  wanted: `SELECT v.version, v.body FROM json_each(?) wanted CROSS JOIN memory_versions v ON v.version = wanted.value`,
  wantedPayloads: `SELECT p.op, p.body FROM json_each(?) wanted CROSS JOIN memory_op_payloads p ON p.op = wanted.value`,
} as const;

/** The row of a state that a correction, a proposed deprecation or an attachment made; a state that an op started has none. */
export function findVersion(db: ReadableDb, version: number): Version | undefined {
  const row = db
    .query<[number], VersionRow>('SELECT version, body FROM memory_versions WHERE version = ?')
    .get(version);
  return row === undefined ? undefined : toVersion(row);
}

/** Those of the states that have a row, in one statement. */
export function listVersions(db: ReadableDb, versions: readonly number[]): readonly Version[] {
  return db.query<[string], VersionRow>(versionQueries.wanted).all(JSON.stringify(versions)).map(toVersion);
}

function toVersion({ version, body }: VersionRow): Version {
  const { i, f, p, e, v } = bodySchema.parse(JSON.parse(body));
  return { version, introduced: i, fields: f, payload: p, evidence: e, verification: v };
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

/** The payload of an op, `{}` when it has none. */
export function readPayload(db: ReadableDb, op: number): JsonObject {
  const body = findOpPayload(db, op);
  return body === undefined ? {} : toPayload(body);
}

/** The payloads of those of the ops that have one, by op number, in one statement. */
export function listPayloads(db: ReadableDb, ops: readonly number[]): readonly (readonly [number, JsonObject])[] {
  return db
    .query<[string], { op: number; body: string }>(versionQueries.wantedPayloads)
    .all(JSON.stringify(ops))
    .map(({ op, body }) => [op, toPayload(body)]);
}

/** It was written as the plain encoding of a parsed object. */
function toPayload(body: string): JsonObject {
  return JSON.parse(body) as JsonObject;
}
