import {
  type ChangesetId,
  type ManifestId,
  type MemoryId,
  mainRefName,
  type ProjectId,
  type ProposalId,
  type RefName,
  type Timestamp,
  timestampSchema,
} from '../../../src-preload/contract/ids.ts';
import { attributionBytesMax, queryBytesMax } from '../../../src-preload/contract/limits.ts';
import { Fault } from '../../base/fault.ts';
import { utf8Length } from '../../canonical/text.ts';
import type { LetheMode } from '../../home/environment.ts';
import type { Lethe } from '../../lethe/api.ts';
import type { AssemblyRetention } from '../../lethe/session-api.ts';
import type { Answer } from './answer.ts';
import type { LetheMetrics } from './metrics.ts';
import { decodeSegment } from './path.ts';
import type { LiveFeed } from './session-live.ts';

/** What the routes work with. */
export interface RouteDeps {
  readonly lethe: Lethe;
  readonly metrics: LetheMetrics;
  readonly monotonicMs: () => number;
  /** Which routes are served (`lethe.md` §1.5). */
  readonly mode: LetheMode;
  readonly live: LiveFeed;
  readonly retention: AssemblyRetention;
  /** The keys that merge authorizations and proofs of the policy engine verify under. */
  readonly mergeKeys: ReadonlyMap<string, Uint8Array>;
}

/** A client that sends this header is told the codes and data of refusals beside their text. */
export const faultsHeader = 'memory-git-faults';
/** Holds the proof that a request comes from the policy engine (`restoreProof`). */
export const restoreProofHeader = 'memory-git-restore';

/** One request as a route sees it. Fields are read as `lethe.md` §1.0 says; what is left out is an empty text. */
export interface Asked {
  readonly params: Readonly<Record<string, string>>;
  /** The path's segments are as they came. */
  readonly raw: boolean;
  readonly query: URLSearchParams;
  readonly body: Buffer;
  /** What the request shows to come from the policy engine, '' when it shows nothing (`restoreProofHeader`). */
  readonly proof: string;
}

/** A route: its place and what it answers. The first route that fits both place and method is taken. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH';
  /** Below `/api`, with `{names}` for single segments. */
  readonly pattern: string;
  /** Not below `/api`. */
  readonly atRoot?: boolean;
  /** A POST that writes nothing, or decides by its body: it passes the recovery gate. */
  readonly reads?: boolean;
  /** A POST whose body is not even read. */
  readonly ignoresBody?: boolean;
  /** Not ended by the deadline of a request. */
  readonly unhurried?: boolean;
  readonly answer: (asked: Asked) => Answer | Promise<Answer>;
}

// The store looks ids up as they came: one that is none is one that is not there. The brand says only what it stands for.
export const asProject = (text: string): ProjectId => text as ProjectId;
export const asRef = (text: string): RefName => text as RefName;
export const asChangeset = (text: string): ChangesetId => text as ChangesetId;
export const asManifest = (text: string): ManifestId => text as ManifestId;
export const asProposal = (text: string): ProposalId => text as ProposalId;

/** A value of the path. */
export function param(asked: Asked, name: string): string {
  return asked.params[name] ?? '';
}

/** A memory's id out of the path, always in plain text: it may hold any character. */
export function memoryParam(asked: Asked): MemoryId {
  return decodeSegment(param(asked, 'id'), asked.raw) as MemoryId;
}

/** The first value of a query parameter, or ''. */
export function queryText(asked: Asked, name: string): string {
  return asked.query.get(name) ?? '';
}

/** `ref` of the query, else main. */
export function queryRef(asked: Asked): RefName {
  return asRef(queryText(asked, 'ref') || mainRefName);
}

/** A whole number in its bounds, else what the reference takes instead: `limit=0`, `limit=x` and none are the default. */
export function queryLimit(asked: Asked, unset: number, max: number, over: number): number {
  const text = queryText(asked, 'limit');
  return clampLimit(/^[+-]?\d{1,9}$/.test(text) ? Number(text) : 0, unset, max, over);
}

/** A limit in its bounds: under 1 the default, over `max` what `over` says. */
export function clampLimit(value: number, unset: number, max: number, over: number): number {
  if (value < 1) return unset;
  return value > max ? over : value;
}

/** The values of a repeated parameter, empty ones left out; `kinds` may also be listed with commas. */
export function queryList(asked: Asked, name: 'kinds' | 'tags'): readonly string[] | undefined {
  const values = asked.query.getAll(name).flatMap((value) => (name === 'kinds' ? value.split(',') : [value]));
  const present = values.filter((value) => value !== '');
  return present.length === 0 ? undefined : present;
}

/** `cursor` of the query. */
export function queryCursor(asked: Asked): string | undefined {
  return queryText(asked, 'cursor') || undefined;
}

/** A yes or no of the query, no when it is left out. Throws INPUT_INVALID. */
export function queryFlag(asked: Asked, name: string): boolean {
  const text = queryText(asked, name);
  if (['', '0', 'false'].includes(text)) return false;
  if (text === '1' || text === 'true') return true;
  throw invalid(name, `${name} must be true or false`);
}

/** `at` of the query. Throws INPUT_INVALID when it is no time. */
export function queryMoment(asked: Asked): Timestamp | undefined {
  const text = queryText(asked, 'at');
  if (text === '') return undefined;
  const parsed = timestampSchema.safeParse(text);
  if (parsed.success) return parsed.data;
  throw invalid('at', 'at: a moment is an RFC 3339 time in UTC, such as 2026-11-30T12:00:00Z');
}

/** A text that must be there. Throws INPUT_INVALID `<field> required`. */
export function required(field: string, text: string): string {
  if (text !== '') return text;
  throw invalid(field, `${field} required`);
}

/** A question to the text index in its bound. Throws INPUT_INVALID. */
export function boundedQuery(field: string, text: string): string {
  return bounded(field, text, queryBytesMax);
}

/** A name of whoever asked, in its bound. Throws INPUT_INVALID. */
export function boundedName(field: string, text: string): string {
  return bounded(field, text, attributionBytesMax);
}

function bounded(field: string, text: string, bytesMax: number): string {
  const wellFormed = text.toWellFormed();
  if (utf8Length(wellFormed) <= bytesMax) return wellFormed;
  throw invalid(field, `${field} is over ${bytesMax} bytes`);
}

/** The refusal of a field. */
export function invalid(field: string, text: string): Fault {
  return new Fault('INPUT_INVALID', text, { field });
}
