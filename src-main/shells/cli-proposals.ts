import { proposalStatusSchema, verdictSchema } from '../../src-preload/contract/proposal.ts';
import { systemIds } from '../base/ids.ts';
import { type Program, type Session, usageFault } from './cli-program.ts';
import { detailText, readDetail } from './cli-proposal-detail.ts';
import { addResolve } from './cli-resolve.ts';
import { table, visible } from './cli-text.ts';

interface ReviewOptions {
  readonly comment?: string;
  readonly digest: string;
  readonly targetHead: string;
}

/** `charon proposal`: what agents propose, and what becomes of it. */
export function addProposalVerbs(program: Program): void {
  const proposal = program.root.command('proposal').description('proposals: look, review, merge');
  proposal
    .command('ls')
    .description('proposals, newest first: those that wait, or of another status')
    .argument('[project]', 'one project (default: all)')
    .option('--status <status>', `one of ${proposalStatusSchema.options.join(', ')}, or all`, 'pending')
    .action((project: string | undefined, options: { status: string }) =>
      program.act(async (session) => void (await list(session, project, options.status))),
    );
  proposal
    .command('show')
    .description('one proposal: its verdicts, what a merge would do now, its conflicts, its changes by meaning')
    .argument('<proposal-id>')
    .action((id: string) =>
      program.act(async ({ call, print }) => {
        const shown = await readDetail(call, id);
        print(shown, detailText(shown));
        return undefined;
      }),
    );
  addResolve(program, proposal);
  const reviewOptions = [
    ['--digest <digest>', 'the state that you looked at, as proposal show prints it'],
    ['--target-head <id>', 'the head of the target that you looked at, as proposal show prints it'],
  ] as const;
  const review = proposal
    .command('review')
    .description('record a verdict about exactly the state that you looked at')
    .argument('<proposal-id>')
    .argument('<verdict>', `one of ${verdictSchema.options.join(', ')}`)
    .option('--comment <text>', 'why')
    .action((id: string, verdict: string, options: ReviewOptions) =>
      program.act((session) => judge(session, id, verdict, options)),
    );
  const reject = proposal
    .command('reject')
    .description('the verdict reject: nothing is deleted, the proposal is closed')
    .argument('<proposal-id>')
    .option('--comment <text>', 'why')
    .action((id: string, options: ReviewOptions) => program.act((session) => judge(session, id, 'reject', options)));
  for (const verb of [review, reject]) for (const [flag, text] of reviewOptions) verb.requiredOption(flag, text);
  proposal
    .command('merge')
    .description('move the protected ref by a signed, single-use authorization; needs a current approval')
    .argument('<proposal-id>')
    .option('--key <text>', 'idempotency key: the same one again gives the first answer (default: a new one)')
    .action((id: string, options: { key?: string }) =>
      program.act(async ({ call, print }) => {
        const merged = await call('memory.merge', {
          proposal_id: id,
          idempotency_key: options.key ?? systemIds().uuidv7(),
        });
        print(
          merged,
          `Merged (${merged.strategy}): ${visible(merged.ref.ref_name)} is now ${merged.resulting_changeset_id}`,
        );
        return undefined;
      }),
    );
  proposal
    .command('cancel')
    .description('take back a proposal of your own')
    .argument('<proposal-id>')
    .action((id: string) =>
      program.act(async ({ call, print }) => {
        const canceled = await call('memory.merge_cancel', { proposal_id: id });
        print(canceled, `Canceled: ${canceled.proposal_id}`);
        return undefined;
      }),
    );
}

async function list({ call, print }: Session, project: string | undefined, status: string): Promise<void> {
  const known = status === 'all' ? undefined : proposalStatusSchema.safeParse(status);
  if (known?.success === false)
    throw usageFault('--status', `one of ${proposalStatusSchema.options.join(', ')}, or all.`);
  const projects =
    project === undefined
      ? (await call('project.list', {})).projects.map(({ project_id: id }): string => id)
      : [project];
  const proposals = [];
  for (const id of projects) {
    let cursor: string | undefined;
    do {
      const page = await call('memory.proposal_list', {
        project: id,
        ...(known === undefined ? {} : { status: known.data }),
        ...(cursor === undefined ? {} : { cursor }),
      });
      proposals.push(...page.proposals);
      cursor = page.next_cursor;
    } while (cursor !== undefined);
  }
  const rows = proposals.map((row) => [
    row.proposal_id,
    row.project_id,
    row.status,
    row.review_state,
    row.originator,
    row.target_ref,
    row.created_at,
    row.message.split('\n')[0] ?? '',
  ]);
  print({ proposals }, table(['ID', 'PROJECT', 'STATUS', 'REVIEW', 'BY', 'TARGET', 'CREATED', 'MESSAGE'], rows));
}

async function judge(
  { call, print }: Session,
  id: string,
  verdict: string,
  options: ReviewOptions,
): Promise<undefined> {
  const known = verdictSchema.safeParse(verdict);
  if (!known.success) throw usageFault('verdict', `one of ${verdictSchema.options.join(', ')}.`);
  const done = await call('memory.merge_review', {
    proposal_id: id,
    verdict: known.data,
    proposal_digest: options.digest,
    target_head: options.targetHead,
    ...(options.comment === undefined ? {} : { comment: options.comment }),
  });
  print(done, `Recorded: ${done.outcome}`);
  return undefined;
}
