import { join } from 'node:path';
import type { VerifyReport } from '../../src-preload/contract/audit.ts';
import { Fault } from '../base/fault.ts';
import { type Findings, openFindings } from '../base/findings.ts';
import { type CharonFile, openCharonFile } from '../charon/file.ts';
import { charonMigrations } from '../charon/migrations/list.ts';
import { openLedger } from '../ledger/ledger.ts';
import { ledgerMigrations } from '../ledger/migrations/migrations.ts';
import { type ProjectHeads, readHeadKeys, readHeads } from '../lethe/file.ts';
import { openLetheFile } from '../lethe/lethe.ts';
import { letheMigrations } from '../lethe/migrations/migrations.ts';
import { checkFile } from '../sqlite/check-file.ts';
import { findStrangeSchema } from '../sqlite/same-schema.ts';
import type { BackupManifest } from './rules/manifest.ts';
import type { BackupTools } from './tools.ts';

/** The steps of each database of a home, in the order in which they are applied. */
export const migrationsOf = {
  'lethe.db': [...letheMigrations, ...ledgerMigrations],
  'charon.db': charonMigrations,
} as const;

/** What a verification of the two databases of a home found, and what they hold. */
export interface StoresReport {
  readonly findings: Findings;
  readonly notes: readonly string[];
  /** Undefined when they could not be read. */
  readonly facts: StoresFacts | undefined;
}

export interface StoresFacts {
  readonly homeId: string;
  readonly projects: readonly ProjectHeads[];
  readonly counts: BackupManifest['counts'];
  readonly audit: { readonly seq: number; readonly hash: string };
  readonly openIntents: number;
  /** Public keys that signed moves of refs. */
  readonly headKeys: ReadonlySet<string>;
}

export interface VerifyOptions {
  /** Trusts no seal of an earlier verification, as of what may come from anywhere. On unless it is said otherwise. */
  readonly isFull?: boolean | undefined;
  /** Hears changesets verified, of how many; may throw to stop. */
  readonly onDone?: ((done: number, total: number) => void) | undefined;
}

/**
 * Verifies the databases in a folder that nobody else uses, on their own: their schema, every table, every history with its chains,
 * signatures and indexes, the key-value ledger, the audit ledger with the anchor beside it (`charon.md` §7). They are of this
 * version and are not written to. What is found is told, never thrown.
 */
export async function verifyStores(
  folder: string,
  tools: Pick<BackupTools, 'keys' | 'clock' | 'ids' | 'log'>,
  { isFull = true, onDone = () => {} }: VerifyOptions = {},
): Promise<StoresReport> {
  const findings = openFindings();
  const notes: string[] = [];
  try {
    const facts = await look(folder, tools, { findings, notes }, { isFull, onDone });
    return { findings, notes, facts };
  } catch (thrown) {
    if (!(thrown instanceof Fault) || thrown.code === 'CLOSED') throw thrown;
    findings.add('the databases', thrown.message);
    return { findings, notes, facts: undefined };
  }
}

/** `VerifyOptions` with what was left out. */
interface LookOptions {
  readonly isFull: boolean;
  readonly onDone: (done: number, total: number) => void;
}

interface Found {
  readonly findings: Findings;
  readonly notes: string[];
}

async function look(
  folder: string,
  tools: Pick<BackupTools, 'keys' | 'clock' | 'ids' | 'log'>,
  found: Found,
  options: LookOptions,
): Promise<StoresFacts> {
  const { ledger, earlierLedgers } = tools.keys;
  const charon = openCharonFile({
    path: join(folder, 'charon.db'),
    anchorPath: join(folder, 'ledger.anchor'),
    keys: new Map([...earlierLedgers, [ledger.id, ledger.key]]),
  });
  try {
    for (const problem of findStrangeSchema(charon.db, migrationsOf['charon.db']))
      found.findings.add('charon.db', problem);
    for (const { where, problem } of (await charon.check()).findings)
      found.findings.add(`charon.db, ${where}`, problem);
    take(found, 'audit ledger', await charon.verify());
    return await lookAtMemory(join(folder, 'lethe.db'), tools, charon, found, options);
  } finally {
    charon.close();
  }
}

async function lookAtMemory(
  path: string,
  { keys, clock, ids, log }: Pick<BackupTools, 'keys' | 'clock' | 'ids' | 'log'>,
  charon: CharonFile,
  found: Found,
  options: LookOptions,
): Promise<StoresFacts> {
  const { lethe, file } = openLetheFile({
    ...{ path, readOnly: true, clock, ids, log, headSigner: keys.head },
    mergeKeys: keys.merges.verifying,
    earlierMergeKeys: keys.merges.earlier,
    ownerPrincipal: charon.ownerPrincipal,
    furtherMigrations: ledgerMigrations,
    onEvents: () => {},
  });
  try {
    const { projects, headKeys, strange } = file.read((db) => ({
      projects: readHeads(db),
      headKeys: readHeadKeys(db),
      strange: findStrangeSchema(db, migrationsOf['lethe.db']),
    }));
    for (const problem of strange) found.findings.add('lethe.db', problem);
    // Those of the memory are looked over with the first project, in a thread of their own where they are large.
    const isLeft = (table: string): boolean => projects.length === 0 || !/^(?:memory|lethe|text)_/.test(table);
    for (const { where, problem } of (await checkFile(file.read, isLeft)).findings)
      found.findings.add(`lethe.db, ${where}`, problem);
    const { isFull, onDone } = options;
    const total = projects.reduce((sum, { changesets }) => sum + changesets, 0);
    let before = 0;
    for (const { project_id: projectId, changesets } of projects) {
      const report = await lethe.verifyChain(projectId, (done) => onDone(before + done, total), { isFull });
      take(found, `project ${projectId}`, report);
      before += changesets;
      onDone(before, total);
    }
    const ledger = await openLedger({ file, clock, ids, log }).verify();
    take(found, 'memory ledger', ledger);
    const refs = projects.reduce((sum, project) => sum + project.refs.length, 0);
    const counts = {
      ...charon.counts,
      projects: projects.length,
      refs,
      changesets: total,
      ledger_rows: ledger.checked,
    };
    return {
      homeId: charon.homeId,
      projects,
      counts,
      audit: charon.head,
      openIntents: charon.openIntents,
      headKeys,
    };
  } finally {
    lethe.close();
  }
}

function take({ findings, notes }: Found, what: string, report: VerifyReport): void {
  for (const { where, problem } of report.findings) findings.add(`${what}, ${where}`, problem);
  notes.push(...report.notes.map((note) => `${what}: ${note}`));
}
