import { type OwnerConfirm, ownerConfirms } from '../../src-preload/contract/commands/owner-word.ts';
import type { CommandOutput } from '../../src-preload/contract/commands/table.ts';
import { askTwice } from './cli-confirm.ts';
import { type Program, type Session, usageFault } from './cli-program.ts';
import { table, visible } from './cli-text.ts';

/** `charon owner`: the owner's word over what gives rights or puts memory into main (`charon.md` §8). */
export function addOwnerVerbs(program: Program): void {
  const owner = program.root.command('owner').description('your word over acts of power from a command line');
  owner
    .command('confirm')
    .description(
      'what an act of power asks for while no desk is open: nothing, or a passphrase; says which, or sets it',
    )
    .argument('[how]', `${ownerConfirms.join(' or ')}; a passphrase is typed on the terminal, twice`)
    .action((how: string | undefined) => {
      const wanted = how === undefined ? undefined : parseHow(how);
      return program.act((session) => confirm(session, wanted));
    });
  owner
    .command('page')
    .description('the address of the desk in a browser, while it is served; works once, within a minute')
    .action(() =>
      program.act(async ({ call, print }) => {
        const opened = await call('owner_page.open', {});
        print(opened, opened.url);
        return undefined;
      }),
    );
  owner
    .command('requests')
    .description('what waits for your word at the desk; it is given there alone')
    .action(() =>
      program.act(async ({ call, print }) => {
        const listed = await call('owner_request.list', {});
        const rows = listed.requests.map((row) => [row.request_id, row.created_at, row.expires_at, row.command_line]);
        print(listed, table(['ID', 'ASKED', 'UNTIL', 'COMMAND'], rows));
        return undefined;
      }),
    );
  owner
    .command('acts')
    .description('acts of power from outside the desk, newest first, with how each was confirmed')
    .option('--all', 'from the beginning (default: since the last one that was seen at the desk)')
    .action((options: { all?: boolean }) =>
      program.act(async ({ call, print }) => {
        const acts = await listActs(call, options.all === true ? 0 : 'last_seen');
        print({ acts }, actsText(acts));
        return undefined;
      }),
    );
}

function parseHow(text: string): OwnerConfirm {
  const how = ownerConfirms.find((known) => known === text);
  if (how !== undefined) return how;
  throw usageFault('how', `one of ${ownerConfirms.join(', ')}.`);
}

async function confirm({ call, print }: Session, wanted: OwnerConfirm | undefined): Promise<undefined> {
  const passphrase = wanted === 'passphrase' ? { passphrase: await askTwice() } : {};
  const state =
    wanted === undefined
      ? await call('owner.confirmation', {})
      : await call('owner.set_confirmation', { owner_confirm: wanted, ...passphrase });
  print(state, stateText(state));
  return undefined;
}

function stateText(state: CommandOutput<'owner.confirmation'>): string {
  if (state.owner_confirm === 'off') return 'Acts of power ask for nothing while no desk is open.';
  return state.passphrase_set
    ? 'Acts of power ask for the passphrase while no desk is open.'
    : 'What is stored was altered, so no passphrase counts: set it anew at the desk.';
}

type Act = CommandOutput<'audit.acts_of_power'>['acts'][number];

async function listActs(call: Session['call'], since: 'last_seen' | 0): Promise<readonly Act[]> {
  const acts: Act[] = [];
  let cursor: string | undefined;
  do {
    const page = await call('audit.acts_of_power', { since, ...(cursor === undefined ? {} : { cursor }) });
    acts.push(...page.acts);
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  return acts;
}

function actsText(acts: readonly Act[]): string {
  const rows = acts.map((act) => [
    String(act.seq),
    act.at,
    act.door,
    act.command,
    act.confirmed === 'off' ? 'nothing was asked' : act.confirmed,
    act.outcome,
    visible(act.object_ids.slice(1).join(' ')),
  ]);
  return table(['SEQ', 'AT', 'DOOR', 'COMMAND', 'CONFIRMED', 'OUTCOME', 'ABOUT'], rows);
}
