import type { CommandOutput } from '../../src-preload/contract/commands/table.ts';
import { exitCodes } from './cli-exit.ts';
import type { Program } from './cli-program.ts';
import { visible } from './cli-text.ts';

type Report = CommandOutput<'engine.reconcile'>;

/** What each check looks at, for people. */
const titles: Readonly<Record<Report['checks'][number]['name'], string>> = {
  database_files: 'tables of the database files',
  audit_ledger: 'entries of the audit ledger',
  projects: 'projects, whole',
  proposals: 'proposals against the moves of their targets',
  advances: 'moves of protected refs against their proposals',
  open_intents: 'requests that nobody can decide',
};

/** `charon reconcile`: whether everything of a home agrees (`charon.md` §7). Exit code 0 clean, 1 findings. */
export function addReconcile(program: Program): void {
  program.root
    .command('reconcile')
    .description(
      'check that database files, audit ledger, projects, proposals and merges agree; exit 1 names what does not. Repairs nothing',
    )
    .option(
      '--settle',
      'first settle from the records what a crash interrupted, and close by hand what no record decides',
    )
    .action((options: { settle?: boolean }) =>
      program.act(async ({ call, print, warn }) => {
        const settled = options.settle === true ? await call('engine.settle', {}) : undefined;
        if (settled !== undefined) warn(settledText(settled));
        const report = await call('engine.reconcile', {});
        print(settled === undefined ? report : { ...report, settled }, reconcileText(report));
        return report.ok ? exitCodes.done : exitCodes.refused;
      }),
    );
}

function settledText({ settled, closed, left }: CommandOutput<'engine.settle'>): string {
  const open = left === 0 ? '' : `, ${left} still open: settle again`;
  return `${settled} settled from records, ${closed} closed by hand${open}.`;
}

/** What a reconciliation found, for people. */
export function reconcileText({ ok, checks }: Report): string {
  const lines = checks.flatMap(({ name, checked, findings, notes }) => [
    `${findings.length === 0 ? 'ok  ' : 'FAIL'}  ${titles[name]}: ${checked}`,
    ...findings.map(({ where, problem }) => `      ${visible(where)}: ${visible(problem)}`),
    ...notes.map((note) => `      note: ${visible(note)}`),
  ]);
  return [...lines, '', ok ? 'Everything agrees.' : 'Not everything agrees.'].join('\n');
}
