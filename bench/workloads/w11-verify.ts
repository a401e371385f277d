import { createHash } from 'node:crypto';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { openFindings } from '../../src-main/base/findings.ts';
import { createSigner, createVerifier } from '../../src-main/canonical/signature.ts';
import { letheMigrations } from '../../src-main/lethe/migrations/migrations.ts';
import { verifyChangesets } from '../../src-main/lethe/verify/changesets.ts';
import { openStoreReadOnly } from '../../src-main/sqlite/open.ts';
import { buildCorpus } from '../lib/corpus.ts';
import { openGit } from '../lib/git.ts';
import { type Contestant, race } from '../lib/measure.ts';
import { type Ratio, type Row, toRow } from '../lib/rows.ts';
import { type Setting, short } from '../lib/setting.ts';
import { benchProject, openBenchStore, storePath } from '../lib/store.ts';
import { textOf } from '../lib/texts.ts';

const oneSignature = 'verifying one Ed25519 signature';
const leastPerSecond = 20_000;
/** One verification is long enough to be a race of its own. */
const roundsMax = 3;

/**
 * W11: verifying a project of changesets with one op each. The digests and the chain alone; everything, as the command does it: the first
 * time from scratch, then over the seals that the first time left, and from scratch again with `--full`; beside hashing its bytes
 * once, and `git fsck`.
 */
export async function runVerify(changesets: number, { scratch, length }: Setting): Promise<readonly Row[]> {
  const folder = join(scratch, 'store');
  await buildCorpus(folder, { memories: changesets, addsPerChangeset: 1 });
  const store = await openBenchStore(folder);
  const total = store.lethe.listProjects().length === 1 ? countChangesets(folder) : 0;
  const hashing = hashFloor(folder);
  const size = `${short(changesets)} changesets`;
  const chain = chainOnly(folder, `digests and chain, ${size}`);
  const fsck = `git fsck, ${short(changesets)} commits`;
  const verifying = (name: string, isFull: boolean): Contestant => ({
    name,
    workers: 1,
    once: async () => {
      const report = await store.lethe.verifyChain(benchProject, undefined, { isFull });
      if (!report.ok) throw new Error('a history that nobody touched verifies');
    },
  });
  const ours: readonly Contestant[] = [
    { ...verifying(`verify-chain, the first time, ${size}`, false), prepare: () => unseal(folder) },
    verifying(`verify-chain, ${size}`, false),
    verifying(`verify-chain --full, ${size}`, true),
  ];
  const timing = await race<string>([hashing, signatureFloor(), chain, ...ours, gitFsck(fsck, scratch, changesets)], {
    ...length,
    rounds: Math.min(length.rounds, roundsMax),
  });
  store.lethe.close();
  hashing.close();
  chain.close();
  const verifiedRow = (name: string, isAsked: boolean): Row => {
    const perSecond = timing(name).perSecond * total;
    const ratioTo = (to: string, count: number): Ratio => ({
      ...{ to, by: 'rate' },
      ratio: perSecond / (timing(to).perSecond * count),
    });
    const must = { text: `≥ ${short(leastPerSecond)} changesets/s`, reached: perSecond >= leastPerSecond };
    const verdict = {
      floor: ratioTo(hashing.name, total),
      peer: ratioTo(fsck, changesets),
      ...(isAsked ? { must } : {}),
    };
    return { ...toRow('W11', name, timing(name), verdict), per_second: perSecond };
  };
  return [
    { ...toRow('W11', hashing.name, timing(hashing.name)), per_second: timing(hashing.name).perSecond * total },
    toRow('W11', oneSignature, timing(oneSignature)),
    { ...toRow('W11', fsck, timing(fsck)), per_second: timing(fsck).perSecond * changesets },
    verifiedRow(chain.name, true),
    ...ours.map(({ name }, index) => verifiedRow(name, index === 1)),
  ];
}

/** Takes the seals away, as in a store that was never verified. */
function unseal(folder: string): void {
  const db = new Database(storePath(folder));
  db.exec('DELETE FROM memory_changeset_seals; DELETE FROM memory_move_seals');
  db.close();
}

function countChangesets(folder: string): number {
  const db = new Database(storePath(folder), { readonly: true });
  const count = db.prepare<[], number>('SELECT count(*) FROM memory_changesets').pluck().get();
  db.close();
  return count ?? 0;
}

/** Reading every changeset with its payloads once and hashing them: less cannot verify anything. */
function hashFloor(folder: string): Contestant & { close(): void } {
  const db = new Database(storePath(folder), { readonly: true });
  const changesets = db.prepare<[], unknown[]>('SELECT * FROM memory_changesets').raw();
  const payloads = db.prepare<[], unknown[]>('SELECT op, body FROM memory_op_payloads').raw();
  return {
    name: 'reading and hashing each row',
    workers: 1,
    once: () => {
      for (const rows of [changesets, payloads])
        for (const row of rows.iterate()) createHash('sha256').update(row.join('\n')).digest();
    },
    close: () => db.close(),
  };
}

/** Of a verification the part that the history itself is: every digest, every link of the chain, every column of it. */
function chainOnly(folder: string, name: string): Contestant & { close(): void } {
  const db = openStoreReadOnly(storePath(folder), letheMigrations);
  return {
    name,
    workers: 1,
    once: () => {
      const findings = openFindings();
      for (let after = 0, count = 1; count > 0; )
        ({ last: after, count } = db.reading(() => verifyChangesets(db, benchProject, after, findings)));
      if (findings.list.length > 0) throw new Error('a history that nobody touched verifies');
    },
    close: () => db.close(),
  };
}

/** Each changeset that moved a ref has a signature: this many can be verified by one thread. */
function signatureFloor(): Contestant {
  const signer = createSigner(Buffer.alloc(32, 1));
  const verify = createVerifier(signer.publicKey);
  const text = textOf(1).repeat(3);
  const signature = signer.sign(text);
  return {
    name: oneSignature,
    workers: 1,
    once: () => {
      if (verify?.(text, signature) !== true) throw new Error('a signature of this key verifies');
    },
  };
}

function gitFsck(name: string, scratch: string, commits: number): Contestant {
  const git = openGit(scratch, 'git-fsck');
  git.feed(commitStream(commits), 'fast-import', '--quiet');
  return { name, workers: 1, once: () => git.run('fsck', '--full', '--no-progress') };
}

/** The same number of commits, each writing one file of the same size anew. */
function commitStream(commits: number): string {
  const parts = Array.from({ length: commits }, (_, index) => {
    const body = textOf(index);
    const bytes = Buffer.byteLength(body);
    return `commit refs/heads/main\ncommitter bench <bench@localhost> ${1_700_000_000 + index} +0000\ndata 16\nwhat was learned\nM 100644 inline memory.md\ndata ${bytes}\n${body}\n`;
  });
  return parts.join('');
}
