import type { Command } from 'commander';
import { resolutionChoiceSchema } from '../../src-preload/contract/conflict.ts';
import { type Program, type Session, usageFault } from './cli-program.ts';

interface ResolveOptions {
  readonly content?: string;
  readonly note?: string;
  readonly scope?: string;
}

/** What stands for taking a draft away. */
const none = 'none';

/** `charon proposal resolve`: how a conflict is to be settled by the merge. */
export function addResolve(program: Program, proposal: Command): void {
  proposal
    .command('resolve')
    .description('draft how a conflict is settled; the merge carries it out, after a review of what it is then')
    .argument('<proposal-id>')
    .argument('<conflict-key>', 'as proposal show prints it')
    .argument('<choice>', `one of ${resolutionChoiceSchema.options.join(', ')}; ${none} drops the draft`)
    .option('--content <text>', 'the new text, with edit')
    .option('--note <text>', 'why')
    .option('--scope <scope>', 'with both of two memories: the scope that the proposal’s one gets')
    .action((id: string, key: string, choice: string, options: ResolveOptions) =>
      program.act((session) => resolve(session, id, key, choice, options)),
    );
}

async function resolve(
  { call, print }: Session,
  id: string,
  key: string,
  choice: string,
  options: ResolveOptions,
): Promise<undefined> {
  if (choice === none) {
    const dropped = await call('proposal.drop_resolution', { proposal_id: id, conflict_key: key });
    print(dropped, `Dropped. ${leftText(dropped.conflict_counts.unresolved)}`);
    return undefined;
  }
  const known = resolutionChoiceSchema.safeParse(choice);
  if (!known.success) throw usageFault('choice', `one of ${resolutionChoiceSchema.options.join(', ')}, or ${none}.`);
  const drafted = await call('proposal.draft_resolution', {
    proposal_id: id,
    resolution: { conflict_key: key, choice: known.data, ...options },
  });
  print(drafted, `Drafted: ${known.data}. ${leftText(drafted.conflict_counts.unresolved)}`);
  return undefined;
}

function leftText(unresolved: number): string {
  return unresolved === 0 ? 'Every conflict has a resolution.' : `${unresolved} without a resolution.`;
}
