import type { Door } from '../../../src-preload/contract/audit.ts';
import type { ObolId } from '../../../src-preload/contract/ids.ts';
import type { LtxKeyKind } from '../../../src-preload/contract/ltx.ts';
import type { OauthGrantId } from '../../../src-preload/contract/oauth.ts';
import type { Principal, Scope } from '../../../src-preload/contract/principal.ts';

/** A key of the memory ledger, or the session of an hour that a passport opened; `id` is its public half. */
export type LtxCredential = { readonly kind: 'ltx'; readonly id: string; readonly key: LtxKeyKind | 'session' };

/** Who is calling, as established by a door, with the rights of this very moment. */
export interface ProvenCaller {
  readonly principal: Principal;
  readonly scopes: readonly Scope[];
  readonly credential:
    | { readonly kind: 'obol'; readonly id: ObolId }
    | LtxCredential
    | { readonly kind: 'oauth'; readonly id: OauthGrantId }
    | { readonly kind: 'owner'; readonly id: string };
  readonly door: Door;
}
