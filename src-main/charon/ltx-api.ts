import type { PrincipalId } from '../../src-preload/contract/ids.ts';
import type {
  LtxKey,
  LtxKeyId,
  LtxKeyKind,
  Passport,
  PassportChallenge,
  RegisterRequest,
  Registration,
  RegistrationId,
} from '../../src-preload/contract/ltx.ts';
import type { Principal } from '../../src-preload/contract/principal.ts';
import type { ProvenCaller } from './rules/caller.ts';

/** A key with its text, which is in this answer and nowhere else. */
export interface MintedKey {
  readonly key: LtxKey;
  readonly token: string;
}

/** What registering comes to. The texts of tokens are in these answers and nowhere else. */
export type Registered =
  | { readonly kind: 'pending'; readonly registration: Registration; readonly pollToken: string }
  | {
      readonly kind: 'registered';
      readonly registration: Registration;
      readonly agent: PrincipalId;
      readonly token: string;
    };

/** What asking after a registration comes to. `token` is there once; null from then on. */
export type Polled =
  | { readonly kind: 'pending' }
  | { readonly kind: 'refused' }
  | { readonly kind: 'expired' }
  | {
      readonly kind: 'registered';
      readonly agent: PrincipalId;
      readonly owner: string;
      readonly token: string | null;
    };

/** Something that a passport signed: what it was asked to, and its standard base64. */
export interface PassportProof {
  readonly challengeId: string | undefined;
  readonly signature: string | undefined;
}

/** Who may come in to the memory ledger (`ledger.md` §1, §5). Writes resolve once durable; READ_ONLY in recovery. */
export interface Ltx {
  /** The principal that an agent id or `principal_…` stands for. */
  findAgent(text: string): Principal | undefined;
  /** The same; throws PRINCIPAL_NOT_FOUND. */
  getAgent(text: string): Principal;
  /** The registration that made a principal; undefined for one that the owner made. */
  findRegistrationOf(principalId: PrincipalId): Registration | undefined;

  /** Throws PRINCIPAL_NOT_FOUND, PRINCIPAL_DISABLED, OWNER_ONLY. */
  mintKey(input: { readonly principalId: PrincipalId; readonly kind: LtxKeyKind }): Promise<MintedKey>;
  listKeys(principalId?: PrincipalId): readonly LtxKey[];
  /** Throws LTX_KEY_NOT_FOUND. */
  revokeKey(keyId: LtxKeyId): Promise<LtxKey>;
  /** Lets in again a key of before a restore. Throws LTX_KEY_NOT_FOUND, KEY_REVOKED. */
  reapproveKey(keyId: LtxKeyId): Promise<LtxKey>;
  /** A new root key in the place of the one that asks. Throws ROOT_KEY_REQUIRED, KEY_REVOKED. */
  rotateKey(caller: ProvenCaller): Promise<MintedKey>;
  /** True when that is a key of this home, whole, that was revoked. */
  wasRevoked(token: string): boolean;
  /** Last use, kept at most once a minute; never throws. */
  noteKeyUse(keyId: LtxKeyId, use: { readonly client: string; readonly tool: string }): void;

  /** Throws AGENT_ALREADY_EXISTS, QUOTA, INPUT_INVALID for a public key that is none. */
  register(request: RegisterRequest): Promise<Registered>;
  /** Throws UNAUTHENTICATED for a token that is not that registration's. Looking changes nothing. */
  lookAtRegistration(
    registrationId: string,
    pollToken: string,
  ): Exclude<Polled, { kind: 'registered' }> | { readonly kind: 'decided' };
  /** Mints the key of an approved one, once. Throws UNAUTHENTICATED. */
  claimRegistration(registrationId: string, pollToken: string): Promise<Polled>;
  /** Newest first; `waiting` those that wait for a decision. Throws CURSOR_INVALID. */
  listRegistrations(page: {
    readonly waiting: boolean;
    readonly limit: number;
    readonly cursor?: string | undefined;
  }): {
    readonly registrations: readonly Registration[];
    readonly nextCursor?: string | undefined;
  };
  /** Throws REGISTRATION_NOT_FOUND, REGISTRATION_STATE. */
  approveRegistration(registrationId: RegistrationId): Promise<Registration>;
  /** Throws REGISTRATION_NOT_FOUND, REGISTRATION_STATE. */
  refuseRegistration(registrationId: RegistrationId): Promise<Registration>;
  /** Are agents let in without being asked about? Off unless set; off when the stored value does not carry the ledger's MAC. */
  openRegistration(): boolean;
  setOpenRegistration(on: boolean): Promise<void>;

  findPassport(principalId: PrincipalId): Passport | undefined;
  /** Throws PASSPORT_NOT_FOUND. */
  revokePassport(principalId: PrincipalId): Promise<Passport>;
  /** Throws PASSPORT_NOT_FOUND, PASSPORT_REVOKED. */
  challenge(principalId: PrincipalId): Promise<PassportChallenge>;
  /** The passport that may sign now. Throws PASSPORT_NOT_FOUND, PASSPORT_REVOKED. */
  requirePassport(principalId: PrincipalId): Passport;
  /**
   * Burns the challenge and answers with it when the passport signed what `messageOf` makes of it. Throws what
   * `requirePassport` does, PASSPORT_SIGNATURE_REQUIRED, and PASSPORT_SIGNATURE_INVALID, which burns it too.
   */
  prove(
    principalId: PrincipalId,
    proof: PassportProof,
    messageOf: (challenge: PassportChallenge) => string,
  ): Promise<PassportChallenge>;
  /** A session of an hour for a signed challenge. Throws as `prove`. */
  signIn(
    principalId: PrincipalId,
    proof: PassportProof,
  ): Promise<{ readonly token: string; readonly expiresInSeconds: number }>;
}
