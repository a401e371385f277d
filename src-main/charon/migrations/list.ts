import type { Migration } from '../../sqlite/migrate.ts';
import { charon0001Identity } from './charon-0001-identity.ts';
import { charon0002Audit } from './charon-0002-audit.ts';
import { charon0003Proposals } from './charon-0003-proposals.ts';
import { charon0004Resolutions } from './charon-0004-resolutions.ts';
import { charon0005Ltx } from './charon-0005-ltx.ts';
import { charon0006Quotas } from './charon-0006-quotas.ts';
import { charon0008Oauth } from './charon-0008-oauth.ts';
import { charon0009OwnerWord } from './charon-0009-owner-word.ts';
import { charon0010Epoch } from './charon-0010-epoch.ts';
import { charon0011CredentialKinds } from './charon-0011-credential-kinds.ts';

/** The schema of charon.db, in order. A landed migration is never edited. */
export const charonMigrations: readonly Migration[] = [
  charon0001Identity,
  charon0002Audit,
  charon0003Proposals,
  charon0004Resolutions,
  charon0005Ltx,
  charon0006Quotas,
  charon0008Oauth,
  charon0009OwnerWord,
  charon0010Epoch,
  charon0011CredentialKinds,
];
