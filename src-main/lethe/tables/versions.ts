import { z } from 'zod';
import type { JsonObject } from '../../../src-preload/contract/json.ts';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';
import { attachmentLists } from '../rules/attachments.ts';
import { baselineFields } from '../rules/event-fields.ts';
import type { Version } from '../rules/overlay.ts';
import { listEventsOfMemories, toFields } from './events.ts';
import { findOpPayload } from './ops.ts';

const bodySchema = z.strictObject({
  i: z.int(),
  p: z.record(z.string(), z.int()),
  f: z.partialRecord(z.enum(['content', 'event_type', 'kind', 'scope', 'visibility', 'tags', 'confidence']), z.int()),
  e: z.int().optional(),
  v: z.int().optional(),
  j: z.partialRecord(z.enum(attachmentLists), z.strictObject({ newest: z.array(z.int()), total: z.int() })).optional(),
  r: z.int().optional(),
  s: z.int().optional(),
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

/** The row of a state that grew out of another one, or was restored; a state that an op started has none. */
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
  const { i, f, p, e, v, j, r, s } = bodySchema.parse(JSON.parse(body));
  const attached = { evidence: e, verification: v, joined: j };
  return { version, introduced: i, fields: f, payload: p, ...attached, restored: r, source: s };
}

/** Adds the row of a state that grew out of another. */
export function insertVersion(db: WritableDb, version: Version): void {
  const body = JSON.stringify({
    i: version.introduced,
    p: version.payload,
    f: version.fields,
    e: version.evidence,
    v: version.verification,
    j: version.joined,
    r: version.restored,
    s: version.source,
  });
  db.command<[number, string]>('INSERT INTO memory_versions (version, body) VALUES (?, ?)').run(version.version, body);
}

/** The payload of an op, `{}` when it has none; of a number that stands for a baseline event, what that says. */
export function readPayload(db: ReadableDb, op: number): JsonObject {
  const body = findOpPayload(db, op);
  return body === undefined ? (listEventPayloads(db, [op])[0]?.[1] ?? {}) : toPayload(body);
}

/** The payloads of those of the ops that have one, by op number: a statement for ops, and one for baseline events if there are any. */
export function listPayloads(db: ReadableDb, ops: readonly number[]): readonly (readonly [number, JsonObject])[] {
  const found = db
    .query<[string], { op: number; body: string }>(versionQueries.wantedPayloads)
    .all(JSON.stringify(ops))
    .map(({ op, body }): readonly [number, JsonObject] => [op, toPayload(body)]);
  if (found.length === new Set(ops).size) return found;
  const known = new Set(found.map(([op]) => op));
  return [
    ...found,
    ...listEventPayloads(
      db,
      ops.filter((op) => !known.has(op)),
    ),
  ];
}

/** What baseline events say, by the numbers that stand for them. An op without a payload names no memory, so it is none. */
function listEventPayloads(db: ReadableDb, numbers: readonly number[]): readonly (readonly [number, JsonObject])[] {
  return listEventsOfMemories(db, numbers).map((event) => [event.number, baselineFields(toFields(event))]);
}

/** It was written as the plain encoding of a parsed object. */
function toPayload(body: string): JsonObject {
  return JSON.parse(body) as JsonObject;
}
