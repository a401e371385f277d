import type { Changeset } from '../../src-preload/contract/changeset.ts';
import { logLimitMax } from '../../src-preload/contract/limits.ts';
import { diffText } from './cli-diff.ts';
import { exitCodes } from './cli-exit.ts';
import { reportText } from './cli-ledger.ts';
import { addLedgerHistory } from './cli-ledger-history.ts';
import { addBranchAndManifest, addKeygen } from './cli-lethe-branches.ts';
import { addLetheImport } from './cli-lethe-import.ts';
import { addLetheServe } from './cli-lethe-serve.ts';
import { createProgram, type Program, usageFault } from './cli-program.ts';
import { shortId, table, visible, visibleLines } from './cli-text.ts';

/** The store's command line (`charon.md` §8, `lethe.md` D12). Gives the exit code. */
export function letheMain(args: readonly string[]): Promise<number> {
  const program = createProgram('lethe', 'Memory Git: look at the store, and verify it.');
  program.root
    .command('verify-chain')
    .description(
      'recompute every digest and the chain of a project, compare the rest with its seals or verify it from scratch, and verify the memory ledger, which belongs to no project; exit 1 names what does not hold',
    )
    .argument('<project>')
    .option(
      '--full',
      'trust no seal of an earlier verification: verify everything from scratch, replay the heads, seal anew',
    )
    .action((project: string, { full }: { full?: boolean }) =>
      program.act(async ({ call, print }) => {
        const report = await call('store.verify_chain', full === true ? { project, full } : { project });
        const ledger = await call('ledger.verify', {});
        const texts = [reportText(`project ${visible(project)}`, report), reportText('memory ledger', ledger)];
        print({ ...report, ledger }, texts.join('\n'));
        return report.ok && ledger.ok ? exitCodes.done : exitCodes.refused;
      }),
    );
  addLetheImport(program);
  addLetheServe(program);
  addKeygen(program);
  addMemoryVerbs(program);
  addLedgerHistory(program);
  return program.run(args);
}

function addMemoryVerbs(program: Program): void {
  const memory = program.root.command('memory').description('memory and its history');
  memory
    .command('status')
    .description('heads of a project, what waits in it')
    .argument('<project>')
    .action((project: string) =>
      program.act(async ({ call, print }) => {
        const status = await call('memory.status', { project });
        const refs = status.refs.map((ref) => [
          ref.ref_name,
          ref.head_changeset_id,
          ref.protected ? 'protected' : '',
          ref.updated_at,
        ]);
        const text = `Open proposals: ${status.open_proposals}${status.recovery_readonly ? '\nRead-only, for recovery' : ''}\n\n${table(['REF', 'HEAD', '', 'MOVED'], refs)}`;
        print(status, text);
        return undefined;
      }),
    );
  memory
    .command('log')
    .description('changesets of a ref, newest first')
    .argument('<project>')
    .option('--ref <name>', 'the ref', 'refs/shared/main')
    .option('--limit <count>', `how many, at most ${logLimitMax}`, '20')
    .option('--cursor <text>', 'go on where a page ended')
    .option('--all-parents', 'follow every parent, not only the first')
    .action((project: string, options: { ref: string; limit: string; cursor?: string; allParents?: boolean }) =>
      program.act(async ({ call, print }) => {
        const page = await call('memory.log', {
          project,
          ref: options.ref,
          limit: parseLimit(options.limit),
          all_parents: options.allParents ?? false,
          ...(options.cursor === undefined ? {} : { cursor: options.cursor }),
        });
        const more = page.next_cursor === undefined ? '' : `\n\nOlder: --cursor ${page.next_cursor}`;
        print(page, `${page.changesets.map(changesetText).join('\n\n')}${more}`);
        return undefined;
      }),
    );
  memory
    .command('show')
    .description('one changeset with its operations')
    .argument('<changeset-id>')
    .option('--cursor <text>', 'go on where a page ended')
    .action((id: string, options: { cursor?: string }) =>
      program.act(async ({ call, print }) => {
        const changeset = await call('memory.show', {
          id,
          ...(options.cursor === undefined ? {} : { cursor: options.cursor }),
        });
        const more = changeset.next_cursor === undefined ? [] : ['', `More: --cursor ${changeset.next_cursor}`];
        const ops = (changeset.ops ?? []).map(
          (op) =>
            `  ${op.ordinal}  ${op.op_type}${op.target_event_id === undefined ? '' : ` ${visible(op.target_event_id)}`}\n${visibleLines(JSON.stringify(op.payload ?? {}, null, 2), '     ')}`,
        );
        print(
          changeset,
          [
            changesetText(changeset),
            ...(ops.length > 0 ? ['', ...ops] : []),
            '',
            `Integrity: ${changeset.integrity_digest}`,
            `Chain:     ${changeset.chain_digest}`,
            ...more,
          ].join('\n'),
        );
        return undefined;
      }),
    );
  memory
    .command('diff')
    .description('what changed in meaning from one changeset to another')
    .argument('<base-id>')
    .argument('<target-id>')
    .option('--cursor <text>', 'go on where a page ended')
    .action((base: string, target: string, options: { cursor?: string }) =>
      program.act(async ({ call, print }) => {
        const diff = await call('memory.diff', {
          base_changeset_id: base,
          target_changeset_id: target,
          ...(options.cursor === undefined ? {} : { cursor: options.cursor }),
        });
        print(
          diff,
          `${diffText(diff)}${diff.next_cursor === undefined ? '' : `\n\nMore: --cursor ${diff.next_cursor}`}`,
        );
        return undefined;
      }),
    );
  addBranchAndManifest(memory, program);
}

function changesetText(changeset: Changeset): string {
  const by =
    changeset.actor_id === undefined || changeset.actor_id === changeset.author_principal
      ? changeset.author_principal
      : `${changeset.actor_id} (${changeset.author_principal})`;
  const lines = [
    `changeset ${changeset.changeset_id}`,
    ...(changeset.parent_ids.length > 1 ? [`Merge:  ${changeset.parent_ids.map(shortId).join(' ')}`] : []),
    `Author: ${visible(by)}${changeset.model === undefined ? '' : `, model ${visible(changeset.model)}`}`,
    `Date:   ${changeset.created_at}`,
    `Ref:    ${visible(changeset.ref_name)}`,
    '',
    visibleLines(changeset.message, '    '),
  ];
  return lines.join('\n');
}

function parseLimit(text: string): number {
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (limit >= 1 && limit <= logLimitMax) return limit;
  throw usageFault('--limit', `a number from 1 to ${logLimitMax}.`);
}
