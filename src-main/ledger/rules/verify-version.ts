import { sha256Hex } from '../../canonical/digest.ts';
import { utf8Length } from '../../canonical/text.ts';
import { isLive, type Predecessor, succeed } from './succession.ts';
import { type DigestedVersion, versionDigest } from './version-digest.ts';

/** A stored version with its value as verification sees it. */
export type VerifiedVersion = DigestedVersion &
  Predecessor & { readonly body: string | null; readonly isRedacted: boolean };

/** What does not hold of a version, each in a sentence; nothing when all does (`G50`). */
export function findVersionProblems(
  agentId: string,
  row: VerifiedVersion,
  previous: Predecessor | undefined,
): readonly string[] {
  const problems: string[] = [];
  if (versionDigest(agentId, row) !== row.row_digest) problems.push('it is not what its digest says');
  if (!isBodyAsSaid(row)) problems.push('its value is not what it says of it');
  if (row.version > 1 && previous === undefined) return [...problems, 'the version before it is missing'];
  const { version, moment_ms, previous_digest, created_ms, replacesLive } = succeed(previous, row.written_ms);
  if (row.version !== version || row.previous_digest !== previous_digest || row.moment_ms !== moment_ms)
    problems.push('it does not follow the version before it');
  if (row.kind === 'put') {
    if (row.created_ms !== created_ms) problems.push('it does not say when its value began');
    if (row.ttl_seconds !== null && row.expires_ms !== row.written_ms + row.ttl_seconds * 1_000)
      problems.push('its end is not where its time to live puts it');
  } else if (row.kind === 'delete' ? !replacesLive : !isEnded(previous, row.written_ms)) {
    problems.push('it ends a value that there was not');
  }
  return problems;
}

function isEnded(previous: Predecessor | undefined, writtenMs: number): boolean {
  return previous?.kind === 'put' && !isLive(previous, writtenMs);
}

function isBodyAsSaid({ kind, body, isRedacted, value_digest, value_bytes }: VerifiedVersion): boolean {
  if (kind !== 'put') return body === null && !isRedacted;
  if (isRedacted) return body === null;
  return body !== null && sha256Hex(body) === value_digest && utf8Length(body) === value_bytes;
}
