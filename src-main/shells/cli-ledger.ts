import { setTimeout as sleep } from 'node:timers/promises';
import type { AuditEntry, VerifyReport } from '../../src-preload/contract/audit.ts';
import type { AmbiguousIntent } from '../../src-preload/contract/commands/operations.ts';
import { listLimitMax } from '../../src-preload/contract/limits.ts';
import { exitCodes } from './cli-exit.ts';
import { type Program, type Session, usageFault } from './cli-program.ts';
import { jsonLine, shortId, table, visible } from './cli-text.ts';

const followEveryMs = 500;

/** `charon ledger`: the audit ledger. */
export function addLedgerVerbs(program: Program): void {
  const ledger = program.root
    .command('ledger')
    .description('the audit ledger: who asked for what, and what came of it');
  ledger
    .command('verify')
    .description('check the chain, every signature and the anchor; exit 1 names the first entry that does not hold')
    .action(() =>
      program.act(async ({ call, print }) => {
        const report = await call('audit.verify', {});
        print(report, reportText('ledger', report));
        return report.ok ? exitCodes.done : exitCodes.refused;
      }),
    );
  ledger
    .command('ambiguous')
    .description(
      'requests that a crash interrupted and of which no record says what came; charon reconcile --settle closes them',
    )
    .action(() =>
      program.act(async ({ call, print }) => {
        const listed = await call('audit.ambiguous', {});
        print(listed, ambiguousText(listed.intents));
        return undefined;
      }),
    );
  ledger
    .command('tail')
    .description('the newest entries, the newest last')
    .option('-n, --lines <count>', `how many, at most ${listLimitMax}`, '20')
    .option('--follow', 'keep printing what comes, until Ctrl-C')
    .action((options: { lines: string; follow?: boolean }) =>
      program.act(async (session) => {
        const limit = parseCount(options.lines);
        const entries = await newest(session, limit);
        printEntries(session, entries, true);
        if (options.follow === true) await follow(session, entries.at(-1)?.seq ?? 0);
        return undefined;
      }),
    );
}

/** Requests that nobody can decide, for people. */
function ambiguousText(intents: readonly AmbiguousIntent[]): string {
  if (intents.length === 0) return 'Nothing is undecided.';
  return table(
    ['SEQ', 'AT', 'DOOR', 'PRINCIPAL', 'COMMAND', 'PROJECT', 'OBJECTS'],
    intents.map(({ seq, at, door, principal, command, project, object_ids: ids }) => [
      String(seq),
      at,
      door,
      shortId(principal),
      command,
      project,
      ids.map(shortId).join(' '),
    ]),
  );
}

/** What a verification found, for people. */
export function reportText(what: string, report: VerifyReport): string {
  const lines = report.findings.map(({ where, problem }) => `FAIL: ${visible(where)}: ${visible(problem)}`);
  const notes = report.notes.map((note) => `note: ${visible(note)}`);
  const verdict = report.ok
    ? `${what}: ${report.checked} verified, nothing wrong`
    : `${what}: ${report.checked} looked at, ${report.findings.length} wrong`;
  return [...lines, ...notes, verdict, ...(report.head === '' ? [] : [`head: ${visible(report.head)}`])].join('\n');
}

/** The newest entries, the newest last. */
async function newest(session: Session, limit: number): Promise<readonly AuditEntry[]> {
  const { entries } = await session.call('audit.tail', { limit });
  return entries.toReversed();
}

async function follow(session: Session, seen: number): Promise<void> {
  let last = seen;
  let stopped = false;
  process.once('SIGINT', () => {
    stopped = true;
  });
  while (!stopped) {
    await sleep(followEveryMs);
    const fresh = await since(session, last);
    if (fresh.length > 0) printEntries(session, fresh, false);
    last = fresh.at(-1)?.seq ?? last;
  }
}

/** Every entry after `last`, page by page from the newest back, the newest last. */
async function since(session: Session, last: number): Promise<readonly AuditEntry[]> {
  const fresh: AuditEntry[] = [];
  let beforeSeq: number | undefined;
  for (;;) {
    const { entries } = await session.call('audit.tail', {
      limit: listLimitMax,
      ...(beforeSeq === undefined ? {} : { before_seq: beforeSeq }),
    });
    fresh.push(...entries.filter(({ seq }) => seq > last));
    const oldest = entries.at(-1)?.seq;
    if (oldest === undefined || oldest <= last + 1) return fresh.toReversed();
    beforeSeq = oldest;
  }
}

function printEntries(session: Session, entries: readonly AuditEntry[], heading: boolean): void {
  if (session.json) {
    for (const entry of entries) process.stdout.write(`${jsonLine(entry)}\n`);
    return;
  }
  const rows = entries.map((entry) => [
    String(entry.seq),
    entry.at,
    entry.door,
    shortId(entry.principal),
    entry.command,
    entry.project,
    entry.phase,
    entry.outcome,
    entry.object_ids.map(shortId).join(' '),
  ]);
  const text = table(['SEQ', 'AT', 'DOOR', 'PRINCIPAL', 'COMMAND', 'PROJECT', 'PHASE', 'OUTCOME', 'OBJECTS'], rows);
  const lines = heading ? text : text.split('\n').slice(1).join('\n');
  process.stdout.write(`${lines}\n`);
}

function parseCount(text: string): number {
  const count = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (count >= 1 && count <= listLimitMax) return count;
  throw usageFault('--lines', `a number from 1 to ${listLimitMax}.`);
}
