import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { BackupInspection } from '../../src-preload/contract/commands/backup.ts';
import { mainRefName, type ProjectId } from '../../src-preload/contract/ids.ts';
import { toTimestamp } from '../base/clock.ts';
import { auditHead } from '../charon/tables/audit-entries.ts';
import { listLiveCredentials, listProposalIds } from '../charon/tables/backup-facts.ts';
import { findHomeId } from '../charon/tables/home.ts';
import { isOnMain, type ProjectHeads, readHeadKeys, readHeads } from '../lethe/file.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import { type HeldState, openHeld } from '../sqlite/held.ts';
import { openStoreReadOnly } from '../sqlite/open.ts';
import { migrationsOf, type StoresFacts } from './stores.ts';
import type { BackupTools } from './tools.ts';

/** A home as it is at this moment, as far as a backup is compared with it. */
export interface StateNow {
  readonly homeId: string;
  readonly projects: readonly ProjectHeads[];
  readonly auditSeq: number;
  readonly auditHash: string;
  readonly charon: ReadableDb;
  /** Public keys that signed for this home: its head key now, and those before it. */
  readonly headKeys: ReadonlySet<string>;
  readonly lethe: ReadableDb;
  /** The moment, as a timestamp. */
  readonly at: string;
}

/** Runs `work` over the state of a home at this moment, or over nothing where its databases cannot be read. */
export async function withStateNow<Result>(
  { paths, keys, clock }: Pick<BackupTools, 'paths' | 'keys' | 'clock'>,
  work: (now: StateNow | undefined) => Promise<Result>,
): Promise<Result> {
  const held: HeldState[] = [];
  try {
    return await work(readNow(held, { paths, keys, clock }));
  } finally {
    for (const state of held) state.close();
  }
}

/**
 * Public keys that signed for a home: its head key now, and those that signed moves of its refs. Undefined where there is no
 * memory, or none that can be read: then nothing is known of them.
 */
export function findHeadKeys({ paths, keys }: Pick<BackupTools, 'paths' | 'keys'>): ReadonlySet<string> | undefined {
  if (!existsSync(paths.letheDb)) return undefined;
  const held: HeldState[] = [];
  try {
    const lethe = openHeld(paths.letheDb);
    held.push(lethe);
    lethe.hold();
    return new Set([keys.head.publicKey, ...readHeadKeys(lethe.db)]);
  } catch {
    return undefined;
  } finally {
    for (const state of held) state.close();
  }
}

function readNow(held: HeldState[], tools: Pick<BackupTools, 'paths' | 'keys' | 'clock'>): StateNow | undefined {
  if (!existsSync(tools.paths.letheDb) || !existsSync(tools.paths.charonDb)) return undefined;
  try {
    return readState(held, tools);
  } catch {
    // A home that is to be restored may be damaged, or of another version: then nothing is compared with it.
    return undefined;
  }
}

function readState(
  held: HeldState[],
  { paths, keys, clock }: Pick<BackupTools, 'paths' | 'keys' | 'clock'>,
): StateNow | undefined {
  for (const path of [paths.letheDb, paths.charonDb]) held.push(openHeld(path));
  for (const state of held) state.hold();
  const [lethe, charon] = held.map(({ db }) => db);
  if (lethe === undefined || charon === undefined) return undefined;
  const homeId = findHomeId(charon);
  if (homeId === undefined) return undefined;
  const head = auditHead(charon);
  return {
    homeId,
    projects: readHeads(lethe),
    auditSeq: head.seq,
    auditHash: head.hash,
    headKeys: new Set([keys.head.publicKey, ...readHeadKeys(lethe)]),
    ...{ lethe, charon, at: toTimestamp(clock.nowMs()) },
  };
}

type GoesBack = NonNullable<BackupInspection['goes_back']>;

/** What restoring a backup, which was verified in `folder`, would change. */
export function compareWithNow(then: StoresFacts, folder: string, now: StateNow): GoesBack {
  const charon = openStoreReadOnly(join(folder, 'charon.db'), migrationsOf['charon.db']);
  try {
    const [live, kept] = [listLiveCredentials(now.charon, now.at), new Set(listLiveCredentials(charon, now.at))];
    const proposals = new Set(listProposalIds(charon));
    return {
      projects: compareProjects(then.projects, now),
      tokens_to_approve: live.filter((id) => kept.has(id)).length,
      tokens_lost: live.filter((id) => !kept.has(id)).length,
      proposals_lost: listProposalIds(now.charon).filter((id) => !proposals.has(id)).length,
      audit_entries_lost: Math.max(0, now.auditSeq - then.audit.seq),
    };
  } finally {
    charon.close();
  }
}

function compareProjects(then: readonly ProjectHeads[], now: StateNow): GoesBack['projects'] {
  const before = new Map(then.map((project) => [project.project_id, project]));
  const here = new Map(now.projects.map((project) => [project.project_id, project]));
  return [...new Set([...here.keys(), ...before.keys()])].sort().map((project) => {
    const [was, is] = [before.get(project), here.get(project)];
    const [mainThen, mainNow] = [mainOf(was), mainOf(is)];
    return {
      project,
      state: stateOf({ project, was, is, mainThen, mainNow }, now),
      main_now: mainNow,
      main_then: mainThen,
      changesets_now: is?.changesets ?? 0,
      changesets_then: was?.changesets ?? 0,
    };
  });
}

interface Sides {
  readonly project: ProjectId;
  readonly was: ProjectHeads | undefined;
  readonly is: ProjectHeads | undefined;
  readonly mainThen: GoesBack['projects'][number]['main_then'];
  readonly mainNow: GoesBack['projects'][number]['main_now'];
}

function stateOf({ project, was, is, mainThen, mainNow }: Sides, now: StateNow): GoesBack['projects'][number]['state'] {
  if (was === undefined) return 'only_here';
  if (is === undefined) return 'only_in_backup';
  if (mainThen === mainNow && was.changesets === is.changesets) return 'same';
  return mainThen !== null && isOnMain(now.lethe, project, mainThen) ? 'behind' : 'unrelated';
}

function mainOf(project: ProjectHeads | undefined): GoesBack['projects'][number]['main_then'] {
  return project?.refs.find(({ ref_name: name }) => name === mainRefName)?.head_changeset_id ?? null;
}
