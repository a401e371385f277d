import type { Door } from '../../../src-preload/contract/audit.ts';
import type { ObolId } from '../../../src-preload/contract/ids.ts';
import type { Principal, Scope } from '../../../src-preload/contract/principal.ts';

/** Who is calling, as established by a door, with the rights of this very moment. */
export interface ProvenCaller {
  readonly principal: Principal;
  readonly scopes: readonly Scope[];
  readonly credential: { readonly kind: 'obol'; readonly id: ObolId } | { readonly kind: 'owner'; readonly id: string };
  readonly door: Door;
}
