import { type Op, opTypeSchema, schemaVersion } from '../../../src-preload/contract/changeset.ts';
import {
  type ChangesetId,
  changesetIdSchema,
  projectIdSchema,
  type Timestamp,
} from '../../../src-preload/contract/ids.ts';
import type { JsonObject, JsonValue } from '../../../src-preload/contract/json.ts';
import { attestationsMax, parentsMax, payloadBytesMax } from '../../../src-preload/contract/limits.ts';
import { Fault } from '../../base/fault.ts';
import { type DigestedChangeset, integrityDigest, integrityDigestV1 } from '../../canonical/digest.ts';
import { encodePlain } from '../../canonical/json.ts';
import { utf8Length } from '../../canonical/text.ts';
import type { ChangesetWords } from './commit-request.ts';
import { gitTables } from './foreign-git-tables.ts';
import { type ForeignRow, ForeignRowRefused, nameForeignRow, parseForeignJson, textOf } from './foreign-row.ts';
import { legacyRootAuthor, legacyRootEvidence, legacyRootKey, legacyRootMessage } from './legacy-root.ts';
import { payloadKeysByType } from './op-fields.ts';
import { quoted } from './op-refusal.ts';

/** A changeset of a reference database, verified by itself. */
export interface ForeignChangeset {
  readonly changesetId: ChangesetId;
  readonly parentIds: readonly ChangesetId[];
  readonly words: ChangesetWords;
  readonly createdAt: Timestamp;
  readonly isRoot: boolean;
  readonly integrityDigest: string;
  /** Which of the two algorithms of `lethe.md` §3.1 made the digest. */
  readonly digestVersion: 1 | 2;
  readonly requestDigest: string;
}

/**
 * A changeset from its row and those of its ops, everything of it checked that can be without another one: ids, bounds, keys
 * of the payloads, the place of each op, and the digest over all of it. Throws ForeignRowRefused naming the row and the reason.
 * @param mayBeFirst whether a digest of the first algorithm is good: only in a file from before their migration
 */
export function decodeForeignChangeset(
  row: ForeignRow,
  opRows: readonly ForeignRow[],
  mayBeFirst: boolean,
): ForeignChangeset {
  const refuse: Refuse = (reason) => {
    throw new ForeignRowRefused(nameForeignRow(gitTables.memory_changesets, row), reason);
  };
  const changesetId = changesetIdSchema.safeParse(row.changeset_id);
  if (!changesetId.success) refuse('changeset_id is no UUID in lower case');
  if (row.schema_version !== schemaVersion) refuse(`schema_version is not ${schemaVersion}`);
  const parentIds = decodeParents(row, refuse);
  const words = decodeWords(row, opRows, refuse);
  const digested = toDigested(words, parentIds);
  const digestVersion = findDigestVersion(digested, textOf(row, 'integrity_digest'), mayBeFirst);
  if (digestVersion === undefined) return refuse('integrity_digest is not that of its content');
  const requestDigest = textOf(row, 'request_digest');
  if (!/^(?:[0-9a-f]{64})?$/.test(requestDigest)) refuse('request_digest is no digest');
  const isRoot = words.idempotencyKey === legacyRootKey;
  if (isRoot && (!isLegacyRoot(words, parentIds) || requestDigest !== ''))
    refuse('it bears the key of the root that a store makes itself, and is not that root');
  return {
    changesetId: changesetIdSchema.parse(row.changeset_id),
    parentIds,
    words,
    createdAt: textOf(row, 'created_at') as Timestamp,
    isRoot,
    integrityDigest: textOf(row, 'integrity_digest'),
    digestVersion,
    requestDigest,
  };
}

type Refuse = (reason: string) => never;

function decodeParents(row: ForeignRow, refuse: Refuse): readonly ChangesetId[] {
  const parsed = parseForeignJson(textOf(row, 'parent_ids_json'));
  const parents = changesetIdSchema.array().safeParse(parsed);
  if (!parents.success) return refuse('parent_ids_json is no list of changeset ids');
  if (parents.data.length > parentsMax) refuse(`it has more than ${parentsMax} parents`);
  if (new Set(parents.data).size < parents.data.length) refuse('it names the same parent twice');
  return parents.data;
}

function decodeWords(row: ForeignRow, opRows: readonly ForeignRow[], refuse: Refuse): ChangesetWords {
  const projectId = projectIdSchema.safeParse(row.project_id);
  if (!projectId.success) return refuse('project_id cannot be the id of a project here');
  for (const name of ['ref_name', 'author_principal', 'idempotency_key']) {
    if (textOf(row, name) === '') refuse(`${name} is empty`);
  }
  return {
    projectId: projectId.data,
    refName: textOf(row, 'ref_name'),
    authorPrincipal: textOf(row, 'author_principal'),
    personaId: textOf(row, 'persona_id'),
    actorId: textOf(row, 'actor_id'),
    surface: textOf(row, 'surface'),
    model: textOf(row, 'model'),
    environment: textOf(row, 'environment'),
    sessionId: textOf(row, 'session_id'),
    topicId: textOf(row, 'topic_id'),
    contextManifestId: textOf(row, 'context_manifest_id'),
    message: textOf(row, 'message'),
    idempotencyKey: textOf(row, 'idempotency_key'),
    ops: opRows.map(decodeOp),
    evidence: decodeAttestations(row, 'evidence_json', refuse),
    verification: decodeAttestations(row, 'verification_json', refuse),
  };
}

function decodeAttestations(row: ForeignRow, name: string, refuse: Refuse): readonly JsonObject[] {
  const parsed = parseForeignJson(textOf(row, name));
  if (!isArray(parsed)) return refuse(`${name} is no JSON list`);
  if (parsed.length > attestationsMax) refuse(`${name} has more than ${attestationsMax} entries`);
  return parsed.map((entry, index) => {
    const normal = isObject(entry) ? normalize(entry) : undefined;
    if (normal === undefined) return refuse(`${name}[${index}] is no JSON object of at most ${payloadBytesMax} bytes`);
    return normal;
  });
}

function decodeOp(row: ForeignRow, index: number): Op {
  const refuse: Refuse = (reason) => {
    throw new ForeignRowRefused(nameForeignRow(gitTables.memory_changeset_ops, row), reason);
  };
  if (row.ordinal !== index) refuse('the ops of its changeset are not numbered from 0 without a gap');
  const opType = opTypeSchema.safeParse(row.op_type);
  if (!opType.success) return refuse('op_type is not one of the known ones');
  const parsed = parseForeignJson(textOf(row, 'payload_json'));
  const payload = isObject(parsed) ? normalize(parsed) : undefined;
  if (payload === undefined) return refuse(`payload_json is no JSON object of at most ${payloadBytesMax} bytes`);
  const known = payloadKeysByType[opType.data];
  const unknown = Object.keys(payload).find((key) => !known.has(key) || key === 'restores');
  if (unknown !== undefined) refuse(`payload field ${quoted(unknown)} is not supported for ${opType.data}`);
  const [target, resulting] = [textOf(row, 'target_event_id'), textOf(row, 'resulting_event_id')];
  return {
    ordinal: index,
    op_type: opType.data,
    ...(target === '' ? {} : { target_event_id: target }),
    ...(resulting === '' ? {} : { resulting_event_id: resulting }),
    ...(Object.keys(payload).length === 0 ? {} : { payload }),
  };
}

/** The object in its one stored form, or undefined when it has none within the bounds. */
function normalize(value: JsonObject): JsonObject | undefined {
  try {
    const text = encodePlain(value);
    return utf8Length(text) > payloadBytesMax ? undefined : JSON.parse(text);
  } catch (thrown) {
    if (thrown instanceof Fault) return undefined;
    throw thrown;
  }
}

function findDigestVersion(digested: DigestedChangeset, digest: string, mayBeFirst: boolean): 1 | 2 | undefined {
  if (integrityDigest(digested) === digest) return 2;
  return mayBeFirst && integrityDigestV1(digested) === digest ? 1 : undefined;
}

function toDigested(words: ChangesetWords, parentIds: readonly string[]): DigestedChangeset {
  return {
    schema_version: schemaVersion,
    project_id: words.projectId,
    ref_name: words.refName,
    parent_ids: parentIds,
    author_principal: words.authorPrincipal,
    persona_id: words.personaId,
    actor_id: words.actorId,
    surface: words.surface,
    model: words.model,
    environment: words.environment,
    session_id: words.sessionId,
    topic_id: words.topicId,
    context_manifest_id: words.contextManifestId,
    message: words.message,
    idempotency_key: words.idempotencyKey,
    ops: words.ops,
    evidence: words.evidence,
    verification: words.verification,
  };
}

/** Whether a changeset is the synthetic root (`lethe.md` §3.5): only the project varies. */
function isLegacyRoot(words: ChangesetWords, parentIds: readonly string[]): boolean {
  const blank = {
    personaId: '',
    surface: '',
    model: '',
    environment: '',
    sessionId: '',
    topicId: '',
    contextManifestId: '',
  };
  const root: ChangesetWords = {
    ...blank,
    projectId: words.projectId,
    refName: 'refs/shared/main',
    authorPrincipal: legacyRootAuthor,
    actorId: legacyRootAuthor,
    message: legacyRootMessage,
    idempotencyKey: legacyRootKey,
    ops: [],
    evidence: [legacyRootEvidence],
    verification: [],
  };
  return parentIds.length === 0 && integrityDigest(toDigested(words, [])) === integrityDigest(toDigested(root, []));
}

function isArray(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
