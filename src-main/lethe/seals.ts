import { createVerifier, type Signer, type Verifier } from '../canonical/signature.ts';
import type { ReadableDb, WritableDb } from '../sqlite/driver.ts';
import { sealText } from './rules/seal-text.ts';
import { findLastHeadKey, listHeadKeys } from './tables/ref-moves.ts';
import {
  type ChangesetSeal,
  type ChangesetSealing,
  deleteSeals,
  insertChangesetSeal,
  insertMoveSeal,
  type MoveSeal,
  type MoveSealing,
} from './tables/seals.ts';

/** What a verification found whole and no seal stands for yet. */
export interface Sealings {
  readonly changesets: readonly ChangesetSealing[];
  readonly moves: readonly MoveSealing[];
}

/** Seals that one write makes: about 30 ms of signing. */
const sealsPerWrite = 64;

/** Tells seals that a head key of the store signed from others. */
export interface SealKeys {
  holds(kind: 'changesets', seal: ChangesetSeal): boolean;
  holds(kind: 'moves', seal: MoveSeal): boolean;
}

/** The head keys of the store (`L301`): of each seal the key that it names by its first move, replaced or not. */
export function openSealKeys(db: ReadableDb): SealKeys {
  const keys = new Map<number, Verifier | undefined>(
    listHeadKeys(db).map((key) => [key.first_seq, createVerifier(key.public_key)]),
  );
  return {
    holds: (kind: 'changesets' | 'moves', seal: ChangesetSeal | MoveSeal) =>
      keys.get(seal.key_seq)?.(sealText(kind, { ...seal }), seal.signature) === true,
  };
}

/**
 * Signs and writes seals, a bounded number a write. A key that has signed no move yet makes none: who verifies could not
 * know it. Answers how many were made.
 */
export async function keepSealings(
  write: <Result>(verb: (db: WritableDb) => Result) => Promise<Result>,
  signer: Signer,
  { changesets, moves }: Sealings,
): Promise<number> {
  const makers = [
    ...changesets.map((sealing) => (db: WritableDb, keySeq: number) => {
      const columns = { ...sealing, key_seq: keySeq };
      insertChangesetSeal(db, { ...columns, signature: signer.sign(sealText('changesets', columns)) });
    }),
    ...moves.map((sealing) => (db: WritableDb, keySeq: number) => {
      const columns = { ...sealing, key_seq: keySeq };
      insertMoveSeal(db, { ...columns, signature: signer.sign(sealText('moves', columns)) });
    }),
  ];
  let made = 0;
  for (let at = 0; at < makers.length; at += sealsPerWrite) {
    made += await write((db) => {
      const key = findLastHeadKey(db);
      if (key?.public_key !== signer.publicKey) return 0;
      const some = makers.slice(at, at + sealsPerWrite);
      for (const make of some) make(db, key.first_seq);
      return some.length;
    });
  }
  return made;
}

/** Drops the seals of a project. */
export function dropSeals(
  write: <Result>(verb: (db: WritableDb) => Result) => Promise<Result>,
  projectId: string,
): Promise<void> {
  return write((db) => deleteSeals(db, projectId));
}
