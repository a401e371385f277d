import { z } from 'zod';
import { refNameBytesMax } from './limits.ts';

/** A project: exact and case-sensitive; never `*`, which in a grant stands for every project. */
export const projectIdSchema = z
  .string()
  .regex(
    /^[^\p{C}\p{Z}*](?:[^\p{C}*]{0,126}[^\p{C}\p{Z}*])?$/u,
    'a project id has 1 to 128 printable characters, no `*`, no space at its ends',
  )
  .brand<'ProjectId'>();
export type ProjectId = z.infer<typeof projectIdSchema>;

const refNamePattern = /^refs(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._-]{1,128}){2,6}$/;

/** `refs/` and 2 to 6 segments (`charon.md` §1). */
export const refNameSchema = z
  .string()
  .max(refNameBytesMax)
  .regex(refNamePattern, 'a ref is refs/ and 2 to 6 segments of letters, digits, `.`, `_`, `-`')
  .brand<'RefName'>();
export type RefName = z.infer<typeof refNameSchema>;

/** Refs under this prefix are protected: they move only by a signed merge. */
export const protectedRefPrefix = 'refs/shared/';
export const mainRefName = refNameSchema.parse('refs/shared/main');

/** Lower-case UUID text of any version; ours are version 7, imported ones may be version 4. */
const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const uuid = z.string().regex(uuidPattern, 'a UUID in lower case');

export const changesetIdSchema = uuid.brand<'ChangesetId'>();
export type ChangesetId = z.infer<typeof changesetIdSchema>;
export const proposalIdSchema = uuid.brand<'ProposalId'>();
export type ProposalId = z.infer<typeof proposalIdSchema>;
export const manifestIdSchema = uuid.brand<'ManifestId'>();
export type ManifestId = z.infer<typeof manifestIdSchema>;
/** An act of power that waits for the owner's word. */
export const requestIdSchema = uuid.brand<'RequestId'>();
export type RequestId = z.infer<typeof requestIdSchema>;
export const findingIdSchema = uuid.brand<'FindingId'>();
export const advanceIdSchema = uuid.brand<'AdvanceId'>();

/** A memory: a caller's own id, or `mem:<changeset id>:<ordinal>`. Project-local. */
export const memoryIdSchema = z.string().min(1).max(1_024).brand<'MemoryId'>();
export type MemoryId = z.infer<typeof memoryIdSchema>;

/** `principal_` and 16 hex characters. */
export const principalIdSchema = z
  .string()
  .regex(/^principal_[0-9a-f]{16}$/, 'principal_ and 16 hex characters')
  .brand<'PrincipalId'>();
export type PrincipalId = z.infer<typeof principalIdSchema>;

/** One path component, unique without regard to case (`charon.md` §1). */
export const actorIdSchema = z
  .string()
  .regex(/^(?!\.{1,2}$)[A-Za-z0-9._-]{1,128}$/, 'one path component: letters, digits, `.`, `_`, `-`')
  .brand<'ActorId'>();
export type ActorId = z.infer<typeof actorIdSchema>;

/** The public half of a token: 8 random bytes in hex. */
export const obolIdSchema = z
  .string()
  .regex(/^[0-9a-f]{16}$/, '16 hex characters')
  .brand<'ObolId'>();
export type ObolId = z.infer<typeof obolIdSchema>;

export const digestSchema = z
  .string()
  .regex(/^[0-9a-f]{64}$/, '64 hex characters')
  .brand<'Digest'>();
export type Digest = z.infer<typeof digestSchema>;

/** RFC 3339 in UTC with up to 9 fractional digits. */
export const timestampSchema = z.iso.datetime({ offset: false }).brand<'Timestamp'>();
export type Timestamp = z.infer<typeof timestampSchema>;

/** Opaque: it pins head, filter and order, and is invalid elsewhere. */
export const cursorSchema = z.string().min(1).max(4_096);
