// How the versions of one key follow each other (ledger.md §3).

/** What of a version decides about the next one. */
export interface Predecessor {
  readonly version: number;
  readonly kind: 'put' | 'delete' | 'expire';
  readonly moment_ms: number;
  readonly created_ms: number | null;
  readonly expires_ms: number | null;
  readonly row_digest: string;
}

/** What a version has from the one before it. */
export interface Succession {
  readonly version: number;
  readonly previous_digest: string;
  /** The time of writing, or that of the version before when the clock has gone back since. */
  readonly moment_ms: number;
  /** When a put at this time would have been created: with the value that it replaces, or now. */
  readonly created_ms: number;
  /** The key holds a value at this time. */
  readonly replacesLive: boolean;
}

/** A put whose time is not over; the end itself is past it. */
export function isLive(row: Pick<Predecessor, 'kind' | 'expires_ms'>, nowMs: number): boolean {
  return row.kind === 'put' && (row.expires_ms === null || row.expires_ms > nowMs);
}

/** What the next version of a key has from its newest one; `undefined` for the first. */
export function succeed(previous: Predecessor | undefined, nowMs: number): Succession {
  const replacesLive = previous !== undefined && isLive(previous, nowMs);
  return {
    version: (previous?.version ?? 0) + 1,
    previous_digest: previous?.row_digest ?? '',
    moment_ms: Math.max(nowMs, previous?.moment_ms ?? nowMs),
    created_ms: replacesLive ? (previous.created_ms ?? nowMs) : nowMs,
    replacesLive,
  };
}
