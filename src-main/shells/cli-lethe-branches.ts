import type { Command } from 'commander';
import { mainRefName } from '../../src-preload/contract/ids.ts';
import type { AcceptedMemory } from '../../src-preload/contract/memory.ts';
import { systemIds } from '../base/ids.ts';
import type { Program, Session } from './cli-program.ts';
import { table, visible } from './cli-text.ts';

/** `lethe memory branch` and `lethe memory manifest` (`lethe.md` §9.1). */
export function addBranchAndManifest(memory: Command, program: Program): void {
  memory
    .command('branch')
    .description('a new branch, at the head of main or at a changeset')
    .argument('<project>')
    .argument('<ref>', 'its name, such as refs/topics/<topic>')
    .option('--at <changeset-id>', 'where it starts (default: the head of refs/shared/main)')
    .action((project: string, refName: string, options: { at?: string }) =>
      program.act(async ({ call, print }) => {
        const head = options.at ?? (await headOfMain(call, project));
        const ref = await call('memory.branch_create', { project, ref_name: refName, head_changeset_id: head });
        print(ref, `${visible(ref.ref_name)} starts at ${ref.head_changeset_id}`);
        return undefined;
      }),
    );
  memory
    .command('manifest')
    .description('the context that a manifest pinned, exactly as it was answered')
    .argument('<project>')
    .argument('<manifest-id>')
    .action((project: string, manifestId: string) =>
      program.act(async ({ call, print }) => {
        const context = await call('memory.context_at', { project, manifest_id: manifestId });
        const conflicts = context.unresolved_conflicts ?? [];
        const text = [
          `Ref:     ${visible(context.ref_name)}`,
          `Head:    ${context.head_changeset_id}`,
          `Active:  ${context.total_active}, of which shown ${context.memories.length}`,
          ...(conflicts.length === 0 ? [] : [`Unresolved conflicts: ${conflicts.join(' ')}`]),
          '',
          table(['MEMORY', 'KIND', 'SCOPE', 'CONTENT'], context.memories.map(memoryRow)),
        ];
        print(context, text.join('\n'));
        return undefined;
      }),
    );
}

async function headOfMain(call: Session['call'], project: string): Promise<string> {
  const { changesets } = await call('memory.log', { project, ref: mainRefName, limit: 1 });
  return changesets[0]?.changeset_id ?? '';
}

const shownCharacters = 80;

function memoryRow({ memory_id: id, kind = '', scope = '', content }: AcceptedMemory): readonly string[] {
  const [line = ''] = content.split('\n');
  const isCut = line.length < content.length || line.length > shownCharacters;
  return [id, kind, scope, isCut ? `${[...line].slice(0, shownCharacters - 1).join('')}…` : line];
}

/** `lethe keygen` (`lethe.md` §9.1): a key for `lethe serve` and its gateways, which is kept nowhere. */
export function addKeygen(program: Program): void {
  program.root
    .command('keygen')
    .description('make a key for the store and its gateways; it is printed once and kept nowhere')
    .action(() =>
      program.actAlone(async ({ print, warn }) => {
        const key = `lethe_${systemIds().randomBytes(keyBytes).toString('hex')}`;
        print({ lethe_api_key: key }, `LETHE_API_KEY=${key}`);
        warn('give it to `lethe serve` and to each gateway in their environment, never on a command line');
        return undefined;
      }),
    );
}

const keyBytes = 32;
