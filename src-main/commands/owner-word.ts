import type { AuditEntry } from '../../src-preload/contract/audit.ts';
import type { ActOfPower } from '../../src-preload/contract/commands/owner-word.ts';
import { type CommandOutput, commandTable, type ParsedInput } from '../../src-preload/contract/commands/table.ts';
import { listLimitDefault } from '../../src-preload/contract/limits.ts';
import { assert } from '../base/assert.ts';
import { Fault } from '../base/fault.ts';
import type { Caller } from '../charon/api.ts';
import { requirePassphrase } from '../charon/confirmation.ts';
import { confirmedBy } from '../charon/rules/act-of-power.ts';
import { formatListCursor, parseListCursor } from '../charon/rules/list-cursor.ts';
import { type BoundCommand, bind, rowOf } from './bind.ts';
import type { CommandDeps } from './deps.ts';
import type { OwnerRequests } from './owner-requests.ts';

/** The owner's word over acts of power from outside the desk (`charon.md` §8). For the owner alone. */
export function ownerWordCommands(deps: CommandDeps, requests: OwnerRequests): readonly BoundCommand[] {
  const { charon } = deps;
  const shown = (): CommandOutput<'owner.confirmation'> => {
    const { kind } = charon.word.confirmation();
    // What cannot be believed is shown as what it counts as: a passphrase is asked for, and none is right.
    return { owner_confirm: kind === 'off' ? 'off' : 'passphrase', passphrase_set: kind === 'passphrase' };
  };
  return [
    bind(rowOf('owner_request.list'), { run: () => ({ requests: [...requests.list()] }) }),
    bind(rowOf('owner_request.decide'), {
      objects: ({ request_id: id, decision }) => [id, decision],
      prepare: ({ input, caller }) => {
        requireDesk(caller);
        requests.require(input.request_id);
      },
      run: ({ input }) => {
        requests.decide(input.request_id, input.decision);
        return input;
      },
    }),
    bind(rowOf('owner.confirmation'), { run: shown }),
    bind(rowOf('owner.set_confirmation'), {
      check: ({ owner_confirm: wanted, passphrase }) => requirePassphrase(wanted, passphrase),
      objects: ({ owner_confirm: wanted }) => [wanted],
      run: async ({ input }) => {
        await charon.word.setConfirmation(input.owner_confirm, input.passphrase);
        return shown();
      },
    }),
    bind(rowOf('owner_page.open'), {
      prepare: () => void getLoginUrl(deps),
      run: () => ({ url: getLoginUrl(deps)() }),
    }),
    bind(rowOf('audit.acts_of_power'), {
      run: async ({ input }) => {
        await charon.audit.flush();
        return listActs(deps, input);
      },
    }),
    bind(rowOf('audit.acts_seen'), {
      objects: ({ through_seq: seq }) => [String(seq)],
      prepare: ({ caller }) => requireDesk(caller),
      run: async ({ input }) => {
        await charon.word.setActsSeenThrough(input.through_seq);
        return { seen_through: charon.word.actsSeenThrough() };
      },
    }),
  ];
}

/** A program that can reach the socket or the files could give itself the owner's word. */
function requireDesk({ door }: Caller): void {
  if (door === 'window' || door === 'owner_page') return;
  throw new Fault('DESK_ONLY', 'This is done at the desk alone: open it with npm start.');
}

function getLoginUrl(deps: CommandDeps): () => string {
  const { newLoginUrl } = deps.facts();
  if (newLoginUrl !== undefined) return newLoginUrl;
  throw new Fault('STATE_NOT_FOUND', 'The owner page is not open. Start with `charon serve --owner-page`.');
}

function listActs(
  { charon }: CommandDeps,
  { since, limit = listLimitDefault, cursor }: ParsedInput<'audit.acts_of_power'>,
): CommandOutput<'audit.acts_of_power'> {
  const seenThrough = charon.word.actsSeenThrough();
  const list = { project: 'acts of power', status: String(since) };
  const beforeSeq = cursor === undefined ? Number.MAX_SAFE_INTEGER : parseListCursor(cursor, list.project, list.status);
  const afterSeq = since === 'last_seen' ? seenThrough : since;
  const found = charon.word.listActs({ afterSeq, beforeSeq }, limit + 1);
  const acts = found.slice(0, limit).map(toAct);
  const last = acts.at(-1);
  const more = found.length > limit && last !== undefined;
  return {
    acts,
    seen_through: seenThrough,
    ...(more ? { next_cursor: formatListCursor({ ...list, before: last.seq }) } : {}),
  };
}

function toAct(entry: AuditEntry): ActOfPower {
  const confirmed = confirmedBy(entry);
  assert(confirmed !== undefined, 'an act of power says how it was confirmed');
  const title = commandTable.find(({ name }) => name === entry.command)?.title ?? entry.command;
  return { ...entry, title, confirmed };
}
