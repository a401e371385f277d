import type { Migration } from '../../sqlite/migrate.ts';
import { ledger0001Store } from './ledger-0001-store.ts';
import { ledger0002Policies } from './ledger-0002-policies.ts';
import { ledger0003TextTerms } from './ledger-0003-text-terms.ts';

/** The ledger's steps of `lethe.db`, in the order in which they are applied, after Lethe's own (`lethe.md` §0.7). */
export const ledgerMigrations: readonly Migration[] = [ledger0001Store, ledger0002Policies, ledger0003TextTerms];
