import { type PrincipalId, principalIdSchema, timestampSchema } from '../../src-preload/contract/ids.ts';
import {
  type LedgerAgentId,
  type LedgerChange,
  type LedgerDiff,
  type LedgerKey,
  type LedgerPoint,
  type LedgerState,
  type LedgerVersion,
  ledgerAgentIdSchema,
  ledgerKeySchema,
} from '../../src-preload/contract/ledger.ts';
import { listLimitMax } from '../../src-preload/contract/limits.ts';

import { type Program, usageFault } from './cli-program.ts';
import { table, visible, visibleLines } from './cli-text.ts';

type PageOptions = { readonly limit: string; readonly cursor?: string };

/** `lethe ledger log|show|diff`: the history of agents' keys, which the agents themselves are not shown (`ledger.md` §3). */
export function addLedgerHistory(program: Program): void {
  const ledger = program.root.command('ledger').description('the history of the key-value memory');
  const paged = (name: string) =>
    ledger
      .command(name)
      .argument('<agent>', 'its principal id or agent id')
      .option('--limit <count>', `how many, at most ${listLimitMax}`, '20')
      .option('--cursor <text>', 'go on where a page ended');
  paged('log')
    .description('versions of a key, the newest first; without a key, the keys that there are or were')
    .argument('[key]')
    .option('--prefix <text>', 'only keys that begin with this')
    .action((agent: string, key: string | undefined, options: PageOptions & { readonly prefix?: string }) =>
      key === undefined ? logKeys(program, agent, options) : logVersions(program, agent, key, options),
    );
  ledger
    .command('show')
    .description('what a key holds, or held at a version or a moment')
    .argument('<agent>', 'its principal id or agent id')
    .argument('<key>')
    .option('--at <point>', 'a version number, or a time like 2026-11-30T12:00:00Z; now when left out')
    .action((agent: string, key: string, options: { readonly at?: string }) =>
      program.act(async ({ call, print }) => {
        const now = timestampSchema.parse(new Date().toISOString());
        const point = options.at === undefined ? { at: now } : parsePoint('--at', options.at);
        const state = await call('ledger.value_at', { agent: parseAgent(agent), key: parseKey(key), point });
        print(state, stateText(state));
        return undefined;
      }),
    );
  paged('diff')
    .description('what differs between two versions or moments of a key, by the places in its value')
    .argument('<key>')
    .argument('<from>', 'a version number, or a time')
    .argument('<to>', 'a version number, or a time')
    .action((agent: string, key: string, from: string, to: string, options: PageOptions) =>
      program.act(async ({ call, print }) => {
        const points = { from: parsePoint('from', from), to: parsePoint('to', to) };
        const diff = await call('ledger.diff', {
          agent: parseAgent(agent),
          key: parseKey(key),
          ...points,
          ...pageOf(options),
        });
        print(diff, differencesText(diff));
        return undefined;
      }),
    );
}

function logKeys(program: Program, agent: string, options: PageOptions & { readonly prefix?: string }): Promise<void> {
  return program.act(async ({ call, print }) => {
    const { prefix } = options;
    const page = await call('ledger.keys', {
      agent: parseAgent(agent),
      ...pageOf(options),
      ...(prefix === undefined ? {} : { prefix }),
    });
    const rows = page.keys.map((key) => [
      key.key,
      String(key.version),
      key.state,
      key.importance ?? '-',
      String(key.size_bytes),
      key.written_at,
      key.expires_at ?? '-',
    ]);
    const text = table(['KEY', 'VERSION', 'STATE', 'IMPORTANCE', 'BYTES', 'WRITTEN', 'UNTIL'], rows);
    print(page, `${text}${moreText(page.next_cursor)}`);
    return undefined;
  });
}

function logVersions(program: Program, agent: string, key: string, options: PageOptions): Promise<void> {
  return program.act(async ({ call, print }) => {
    const page = await call('ledger.history', { agent: parseAgent(agent), key: parseKey(key), ...pageOf(options) });
    const heading = ['VERSION', 'WHAT', 'WRITTEN', 'IMPORTANCE', 'BYTES', 'UNTIL', 'FROM', 'SOURCE', 'DIGEST'];
    print(page, `${table(heading, page.versions.map(versionCells))}${moreText(page.next_cursor)}`);
    return undefined;
  });
}

function versionCells(version: LedgerVersion): readonly string[] {
  const common = [String(version.version), version.kind, version.written_at];
  if (version.kind !== 'put') return [...common, '-', '-', '-', '-', '-', version.digest.slice(0, 12)];
  const { derived_from: derived } = version;
  return [
    ...common,
    version.importance,
    version.redacted ? 'redacted' : String(version.size_bytes),
    version.expires_at ?? '-',
    derived === undefined ? '-' : `${derived.start_version}-${derived.end_version}`,
    version.source ?? '-',
    version.digest.slice(0, 12),
  ];
}

const absences = {
  not_yet: 'There was nothing yet.',
  deleted: 'It had been deleted.',
  expired: 'Its time was over.',
  redacted: 'Its value was taken out; the digest stands.',
} as const;

function stateText(state: LedgerState): string {
  const version = state.version === null ? '' : `version ${state.version.version} of ${state.version.written_at}\n`;
  if (state.kind === 'absent') return `${version}${absences[state.reason]}`;
  return `${version}${visibleLines(JSON.stringify(state.value, null, 2), '')}`;
}

function differencesText(diff: LedgerDiff): string {
  const sides = `from ${diff.from ?? 'nothing'} to ${diff.to ?? 'nothing'}`;
  const fields = diff.fields.length === 0 ? [] : [`Other fields: ${diff.fields.join(', ')}`];
  const heading =
    diff.total === 0
      ? 'The value is the same.'
      : `${diff.total} ${diff.total === 1 ? 'place differs' : 'places differ'}.`;
  return [`${visible(diff.key)} ${sides}: ${heading}`, ...fields, ...diff.changes.map(changeText)]
    .join('\n')
    .concat(moreText(diff.next_cursor));
}

function changeText(change: LedgerChange): string {
  const lines = [`  ${change.path === '' ? '(the whole value)' : visible(change.path)}`];
  if (change.kind !== 'added') lines.push(visibleLines(JSON.stringify(change.before, null, 2), '    - '));
  if (change.kind !== 'removed') lines.push(visibleLines(JSON.stringify(change.after, null, 2), '    + '));
  return lines.join('\n');
}

function moreText(cursor: string | undefined): string {
  return cursor === undefined ? '' : `\n\nMore: --cursor ${cursor}`;
}

function pageOf({ limit, cursor }: PageOptions): { readonly limit: number; readonly cursor?: string } {
  const count = /^\d{1,4}$/.test(limit) ? Number(limit) : Number.NaN;
  if (!(count >= 1 && count <= listLimitMax)) throw usageFault('--limit', `a number from 1 to ${listLimitMax}.`);
  return { limit: count, ...(cursor === undefined ? {} : { cursor }) };
}

function parsePoint(name: string, text: string): LedgerPoint {
  if (/^[1-9]\d{0,14}$/.test(text)) return { version: Number(text) };
  const at = timestampSchema.safeParse(text);
  if (at.success) return { at: at.data };
  throw usageFault(name, 'a version number, or a time in UTC like 2026-11-30T12:00:00Z.');
}

function parseKey(text: string): LedgerKey {
  const key = ledgerKeySchema.safeParse(text);
  if (key.success) return key.data;
  throw usageFault('key', '1 to 128 letters, digits, `-`, `_`, `.`, `:`.');
}

function parseAgent(text: string): LedgerAgentId | PrincipalId {
  const agent = ledgerAgentIdSchema.or(principalIdSchema).safeParse(text);
  if (agent.success) return agent.data;
  throw usageFault('agent', 'a principal id or an agent id, as charon principal list shows it.');
}
