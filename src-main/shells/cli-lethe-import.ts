import { resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import type { ImportPlanOutput } from '../../src-preload/contract/commands/import.ts';
import { exitCodes } from './cli-exit.ts';
import { type Program, usageFault } from './cli-program.ts';
import { table, visible } from './cli-text.ts';

/** `lethe import <file>`: brings in a reference database, after the owner has seen what it would write (`lethe.md` §2.11). */
export function addLetheImport(program: Program): void {
  program.root
    .command('import')
    .description(
      'bring in a reference database (0.3 or 0.4): unknown projects whole, others beside what is here; exit 1 when refused',
    )
    .argument('<file>')
    .option('--yes', 'import without asking')
    .option('--dry-run', 'verify, and say what would be written')
    .action((file: string, options: { yes?: boolean; dryRun?: boolean }) =>
      program.act(
        async ({ call, print, warn, json }) => {
          const path = resolve(file);
          const plan = await call('store.inspect_import', { file: path });
          if (options.dryRun || plan.nothing_new) {
            print(plan, planText(plan));
            return undefined;
          }
          if (!options.yes) {
            if (json || !process.stdin.isTTY)
              throw usageFault('--yes', 'say it to import without being asked, or --dry-run to look.');
            warn(`the file holds\n${planText(plan)}`);
            if (!(await confirmed())) return exitCodes.refused;
          }
          const done = await call('store.import', { file: path, content_digest: plan.content_digest });
          print(done, `${planText(done)}\n\n${doneText(done)}`);
          return undefined;
        },
        { create: true },
      ),
    );
}

async function confirmed(): Promise<boolean> {
  const asked = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(?:es)?$/i.test((await asked.question('Import it? [y/N] ')).trim());
  } finally {
    asked.close();
  }
}

const modes = {
  whole: 'comes whole',
  start: 'starts with its events',
  beside: 'lands beside what is here',
  events: 'adds events',
} as const;

function planText(plan: ImportPlanOutput): string {
  const nothing =
    plan.imported_at === undefined
      ? 'Nothing in it is new: everything is here.'
      : `Nothing in it is new: it was imported at ${plan.imported_at}.`;
  if (plan.nothing_new) return `Content: ${plan.content_digest}\n${nothing}`;
  const projects = plan.projects.map((project) => [
    project.project,
    modes[project.mode],
    `${project.new_changesets}`,
    `${project.new_events}`,
  ]);
  const heads = plan.projects.flatMap(({ project, refs }) =>
    refs.map((ref) => [project, ref.ref_name, ref.head_changeset_id, ref.lands_as, ref.protected ? 'protected' : '']),
  );
  return [
    `Content: ${plan.content_digest}`,
    `Rows of sessions: ${plan.new_session_rows}, records of history: ${plan.new_records}`,
    '',
    table(['PROJECT', '', 'CHANGESETS', 'EVENTS'], projects),
    ...(heads.length === 0 ? [] : ['', table(['PROJECT', 'REF', 'HEAD', 'LANDS AS', ''], heads)]),
  ].join('\n');
}

function doneText(done: {
  readonly proposals: readonly { readonly project: string; readonly proposal_id: string }[];
  readonly notes: readonly string[];
}): string {
  return [
    'Imported.',
    ...done.proposals.map(({ project, proposal_id: id }) => `Proposed to main of ${visible(project)}: ${id}`),
    ...done.notes.map((note) => `Note: ${visible(note)}`),
  ].join('\n');
}
