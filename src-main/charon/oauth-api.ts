import type { Door } from '../../src-preload/contract/audit.ts';
import type { PrincipalId } from '../../src-preload/contract/ids.ts';
import type { OauthGrant, OauthGrantId, OauthRequest, OauthRequestId } from '../../src-preload/contract/oauth.ts';
import type { Scope } from '../../src-preload/contract/principal.ts';
import type { ProvenCaller } from './rules/caller.ts';
import type { OauthClient } from './rules/oauth.ts';

/** What a program asks for when it sends a browser to sign in. Parsed; `resource` is what it wants to reach. */
export interface OauthAsked {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly state: string | null;
  /** S256, always. */
  readonly challenge: string;
  readonly resource: string;
}

/** What became of a request, for the page that waits. The code is in this answer and nowhere else, once. */
export type OauthLooked =
  | { readonly kind: 'waiting'; readonly clientName: string; readonly matchCode: string }
  | { readonly kind: 'approved'; readonly redirectUri: string; readonly state: string | null; readonly code: string }
  | { readonly kind: 'refused'; readonly redirectUri: string; readonly state: string | null }
  | { readonly kind: 'over' };

/** A code on its way to become an access. `issuer` and `resource` are the door's own addresses. */
export interface OauthExchange {
  readonly code: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly verifier: string;
  readonly issuer: string;
  readonly resource: string;
}

/** Programs that sign in (`charon.md` §2). Writes resolve once durable; READ_ONLY in recovery. */
export interface Oauth {
  /** Off unless the owner turned it on; off when the stored value does not carry the ledger's MAC. */
  enabled(): boolean;
  setEnabled(on: boolean): Promise<void>;
  /** The id of a program, which says all of it; undefined for redirects that cannot be used. Keeps nothing. */
  registerClient(client: {
    readonly name: string;
    readonly redirects: readonly string[];
  }): { readonly clientId: string; readonly client: OauthClient } | undefined;
  /** The program of an id that this home gave out. */
  findClient(clientId: string): OauthClient | undefined;
  /** Waits for the owner from now on; the token is for the page that waits. Throws QUOTA, INPUT_INVALID for a program or redirect that was not registered. */
  begin(asked: OauthAsked): Promise<string>;
  /** Undefined for a token of no request. */
  look(waitToken: string): Promise<OauthLooked | undefined>;
  /**
   * The access that a code stands for. Undefined, one answer, for a code that is unknown, over, spent, another program's or
   * without its verifier; whoever shows a code spends it, and a spent one ends the access that it gave.
   */
  exchange(
    exchange: OauthExchange,
  ): Promise<{ readonly token: string; readonly expiresInMs: number; readonly scopes: readonly Scope[] } | undefined>;
  /** The caller of an access token with the rights of this moment; undefined for every one that is not good here and now. */
  authenticate(token: string, resource: string, door: Door): ProvenCaller | undefined;

  listPending(): readonly OauthRequest[];
  /** Throws REGISTRATION_NOT_FOUND, REGISTRATION_STATE, PRINCIPAL_NOT_FOUND, PRINCIPAL_DISABLED, OWNER_ONLY. */
  approve(requestId: OauthRequestId, principalId: PrincipalId): Promise<OauthRequest>;
  /** Throws REGISTRATION_NOT_FOUND, REGISTRATION_STATE. */
  refuse(requestId: OauthRequestId): Promise<OauthRequest>;
  listGrants(): readonly OauthGrant[];
  /** Revoking again answers the same. Throws STATE_NOT_FOUND. */
  revoke(grantId: OauthGrantId): Promise<OauthGrant>;
}
