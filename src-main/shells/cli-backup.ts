import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  BackupInspection,
  BackupJob,
  ListedBackup,
  Rehearsal,
} from '../../src-preload/contract/commands/backup.ts';
import { type FaultCode, faultKindByCode } from '../../src-preload/contract/faults.ts';
import { Fault } from '../base/fault.ts';
import { type ExitCode, exitCodes } from './cli-exit.ts';
import { type Program, type Session, usageFault } from './cli-program.ts';
import { table, visible } from './cli-text.ts';

/** `charon backup`: backups of a home, through the running host or on closed files (`charon.md` §7). */
export function addBackupVerbs(program: Program): void {
  const backup = program.root
    .command('backup')
    .description('back up this home while agents go on; both databases of one instant, verified on their own')
    .option('--out <folder>', 'the folder that it becomes; there must be none of that name (default: in the home)')
    .action((options: { out?: string }) => program.act((session) => create(session, options.out)));
  backup
    .command('ls')
    .description('backups of this home, the newest first')
    .action(() =>
      program.act(async ({ call, print }) => {
        const listed = await call('backup.list', {});
        print(listed, listText(listed.backups));
        return undefined;
      }),
    );
  backup
    .command('inspect')
    .description(
      'verify everything of a backup and say what restoring it would change; exit 1 names what does not hold',
    )
    .argument('<folder>', 'its folder, or its name as ls shows it')
    .action((folder: string) =>
      program.act(async ({ call, print }) => {
        const found = await call('backup.inspect', { directory: placeOf(folder) });
        print(found, inspectionText(found));
        return found.ok ? exitCodes.done : exitCodes.refused;
      }),
    );
  backup
    .command('rehearse')
    .description(
      'restore a backup into a scratch folder, verify it there, compare it with what it says; leaves a dated tick',
    )
    .argument('<folder>', 'its folder, or its name as ls shows it')
    .action((folder: string) =>
      program.act(async ({ call, print }) => {
        const done = await call('backup.rehearse', { directory: placeOf(folder) });
        print(done, rehearsalText(done));
        return done.ok ? exitCodes.done : exitCodes.refused;
      }),
    );
  backup
    .command('prune')
    .description('remove the oldest backups of this home; the newest that verifies always stays')
    .option('--keep <number>', 'how many stay (default: what the settings say, else 10)')
    .action((options: { keep?: string }) =>
      program.act(async ({ call, print }) => {
        const done = await call('backup.prune', options.keep === undefined ? {} : { keep: parseKeep(options.keep) });
        print(done, [...done.removed.map((name) => `removed ${name}`), `${done.kept.length} kept`].join('\n'));
        return undefined;
      }),
    );
}

/** A folder as it was typed: a bare name stays one, for the home's own backups; everything else becomes absolute. */
export function placeOf(folder: string): string {
  return /^(?!\.)[A-Za-z0-9._-]+$/.test(folder) ? folder : resolve(folder);
}

function parseKeep(text: string): number {
  const keep = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (keep >= 1 && keep <= 1_000) return keep;
  throw usageFault('keep', 'a whole number from 1 to 1000.');
}

const askEveryMs = 150;

/** Begins a backup and follows it to its end. Ctrl-C cancels it, and nothing of it is left. */
async function create({ call, print, json }: Session, out: string | undefined): Promise<ExitCode> {
  let job = await call('backup.create', out === undefined ? {} : { out: resolve(out) });
  const id = job.job_id;
  let stopping: Promise<unknown> | undefined;
  const stop = (): void => {
    // It may have ended by itself in this very moment.
    stopping ??= call('backup.cancel', { job_id: id }).catch(() => undefined);
  };
  process.on('SIGINT', stop);
  try {
    while (job.ended_at === null) {
      if (!json && process.stderr.isTTY) process.stderr.write(`\r${progressText(job)}\u001b[K`);
      await sleep(askEveryMs);
      const now = (await call('backup.status', {})).job;
      if (now?.job_id !== id)
        throw new Fault('CLOSED', 'The engine was started anew meanwhile. Look at charon backup ls.');
      job = now;
    }
  } finally {
    process.off('SIGINT', stop);
    if (!json && process.stderr.isTTY) process.stderr.write('\r\u001b[K');
    await stopping;
  }
  if (job.phase === 'failed') throw failed(job);
  print(job, madeText(job));
  return job.phase === 'done' ? exitCodes.done : exitCodes.refused;
}

function failed({ problem, code }: BackupJob): Fault {
  const known = Object.keys(faultKindByCode).find((one): one is FaultCode => one === code) ?? 'INTERNAL';
  return new Fault(known, problem ?? 'The backup failed.');
}

function progressText({ phase, done, total }: BackupJob): string {
  const share = total === 0 ? '' : ` ${Math.floor((100 * done) / total)} %`;
  return `${phase}${share}`;
}

function madeText(job: BackupJob): string {
  if (job.phase === 'canceled') return 'Canceled. Nothing of it is left.';
  const removed = job.removed.map((name) => `\nRotated out: ${name}`).join('');
  return `Backup:   ${visible(job.directory)}\nManifest: ${job.manifest_digest}\nBytes:    ${job.bytes}${removed}`;
}

function listText(backups: readonly ListedBackup[]): string {
  return table(
    ['NAME', 'KIND', 'STATE', 'MADE', 'BYTES', 'CHANGESETS', 'VERIFIED', 'REHEARSED', 'KEYS'],
    backups.map((one) => [
      one.name,
      one.kind ?? '-',
      one.state,
      one.created_at ?? '-',
      String(one.bytes),
      String(one.changesets ?? '-'),
      one.verified_at ?? '-',
      one.rehearsed_at ?? '-',
      one.has_keys ? 'sealed' : 'no',
    ]),
  );
}

/** What an inspection found, for people. */
export function inspectionText(found: BackupInspection): string {
  const lines = [
    `${found.ok ? 'ok  ' : 'FAIL'}  backup of home ${found.home_id ?? '?'}, made ${found.created_at ?? '?'} by ${visible(found.product_version ?? '?')}`,
    ...findingLines(found.findings, found.notes),
    ...Object.entries(found.counts).map(([name, count]) => `      ${visible(name)}: ${count}`),
  ];
  const back = found.goes_back;
  if (back === null) return lines.join('\n');
  const projects = back.projects.map((one) => [
    one.project,
    one.state.replaceAll('_', ' '),
    String(one.changesets_now),
    String(one.changesets_then),
  ]);
  return [
    ...lines,
    '',
    'Restoring it would go back to:',
    table(['PROJECT', 'BACKUP IS', 'CHANGESETS NOW', 'THEN'], projects),
    `Tokens to approve again: ${back.tokens_to_approve}; tokens lost: ${back.tokens_lost}`,
    `Proposals lost: ${back.proposals_lost}; audit entries lost: ${back.audit_entries_lost}`,
  ].join('\n');
}

function rehearsalText(done: Rehearsal): string {
  const { projects, refs, changesets, audit_entries: entries } = done;
  return [
    `${done.ok ? 'ok  ' : 'FAIL'}  ${projects} projects, ${refs} refs, ${changesets} changesets, ${entries} audit entries`,
    ...findingLines(done.findings, done.notes),
  ].join('\n');
}

function findingLines(
  findings: readonly { readonly where: string; readonly problem: string }[],
  notes: readonly string[],
): readonly string[] {
  return [
    ...findings.map(({ where, problem }) => `      ${visible(where)}: ${visible(problem)}`),
    ...notes.map((note) => `      note: ${visible(note)}`),
  ];
}
