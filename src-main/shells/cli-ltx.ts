import { type LtxKey, ltxKeyKindSchema, type Registration } from '../../src-preload/contract/ltx.ts';
import { type Program, usageFault } from './cli-program.ts';
import { table } from './cli-text.ts';

/** `charon ltx`, `registration`, `custody` and `passport`: who may use the memory ledger (`ledger.md` §1, §5). */
export function addLtxVerbs(program: Program): void {
  addKeys(program);
  addRegistrations(program);
  addCustody(program);
}

function addKeys(program: Program): void {
  const ltx = program.root.command('ltx').description('keys of the key-value memory (/v1)');
  ltx
    .command('mint')
    .description('make a key for one agent; it is shown once')
    .argument('<agent>', 'its principal id or agent id')
    .option('--kind <kind>', `what it may do: ${ltxKeyKindSchema.options.join(', ')}`, 'root')
    .action((agent: string, options: { kind: string }) =>
      program.act(async ({ call, print }) => {
        const kind = ltxKeyKindSchema.safeParse(options.kind);
        if (!kind.success) throw usageFault('--kind', `one of ${ltxKeyKindSchema.options.join(', ')}.`);
        const minted = await call('ltx.mint', { agent, kind: kind.data });
        print(minted, mintedText(minted.key, minted.token));
        return undefined;
      }),
    );
  ltx
    .command('ls')
    .description('keys, of one agent or of all; never the secret')
    .argument('[agent]')
    .action((agent: string | undefined) =>
      program.act(async ({ call, print }) => {
        const listed = await call('ltx.list', agent === undefined ? {} : { agent });
        const rows = listed.keys.map((key) => [
          key.key_id,
          key.principal_id,
          key.kind,
          key.revoked_at !== null ? 'revoked' : key.needs_reapproval === true ? 'epoch' : 'live',
          key.created_at,
          key.last_used_at ?? '-',
        ]);
        print(listed, table(['ID', 'PRINCIPAL', 'KIND', 'STATE', 'CREATED', 'LAST USED'], rows));
        return undefined;
      }),
    );
  ltx
    .command('reapprove')
    .description('let a key in again that was made before a restore')
    .argument('<key-id>')
    .action((id: string) =>
      program.act(async ({ call, print }) => {
        const approved = await call('ltx.reapprove', { key_id: id });
        print(approved, `Approved again: ${approved.key_id}`);
        return undefined;
      }),
    );
  ltx
    .command('revoke')
    .description('refuse a key from now on; this cannot be undone')
    .argument('<key-id>')
    .action((id: string) =>
      program.act(async ({ call, print }) => {
        const revoked = await call('ltx.revoke', { key_id: id });
        print(revoked, `Revoked: ${revoked.key_id}`);
        return undefined;
      }),
    );
}

function addRegistrations(program: Program): void {
  const registration = program.root
    .command('registration')
    .description('agents that ask to be let in to the key-value memory');
  registration
    .command('ls')
    .description('registrations, newest first')
    .option('--waiting', 'only those that wait for a decision')
    .action((options: { waiting?: boolean }) =>
      program.act(async ({ call, print }) => {
        const listed = await call('registration.list', { waiting: options.waiting ?? false });
        const rows = listed.registrations.map((row) => [
          row.registration_id,
          row.agent_name,
          row.owner_identifier,
          row.did === null ? 'no' : 'yes',
          row.status,
          row.created_at,
        ]);
        print(listed, table(['ID', 'NAME', 'OWNER', 'PASSPORT', 'STATUS', 'ASKED'], rows));
        return undefined;
      }),
    );
  for (const verb of ['approve', 'refuse'] as const) {
    registration
      .command(verb)
      .description(verb === 'approve' ? 'let an agent in; it fetches its key by itself' : 'refuse an agent')
      .argument('<registration-id>')
      .action((id: string) =>
        program.act(async ({ call, print }) => {
          const decided = await call(`registration.${verb}`, { registration_id: id });
          print(decided, decidedText(decided));
          return undefined;
        }),
      );
  }
  for (const open of [true, false]) {
    registration
      .command(open ? 'open' : 'ask')
      .description(open ? 'let every agent in that registers, without asking' : 'ask about every agent (the default)')
      .action(() =>
        program.act(async ({ call, print }) => {
          const set = await call('registration.set_open', { open });
          print(set, set.open ? 'Agents that register are let in.' : 'Agents that register wait for your decision.');
          return undefined;
        }),
      );
  }
}

function addCustody(program: Program): void {
  const custody = program.root.command('custody').description('whether an agent may amend its consolidation policy');
  for (const verb of ['open', 'close'] as const) {
    custody
      .command(verb)
      .description(verb === 'open' ? 'begin the next epoch' : 'end the open epoch')
      .argument('<agent>', 'its principal id or agent id')
      .action((agent: string) =>
        program.act(async ({ call, print }) => {
          const now = await call(`custody.${verb}`, { agent });
          print(now, `Custody ${now.state}: epoch ${now.current_epoch}, ${now.current_custodian}, since ${now.since}`);
          return undefined;
        }),
      );
  }
  const passport = program.root.command('passport').description('the public keys of agents');
  passport
    .command('revoke')
    .description('nothing that it signs counts from now on; this cannot be undone')
    .argument('<agent>', 'its principal id or agent id')
    .action((agent: string) =>
      program.act(async ({ call, print }) => {
        const revoked = await call('passport.revoke', { agent });
        print(revoked, `Revoked: ${revoked.did}`);
        return undefined;
      }),
    );
}

function mintedText(key: LtxKey, token: string): string {
  return [
    `ID: ${key.key_id}`,
    `Principal: ${key.principal_id}`,
    `Agent: ${key.agent_id}`,
    `Kind: ${key.kind}`,
    `Key: ${token}`,
  ].join('\n');
}

function decidedText(registration: Registration): string {
  const made = registration.principal_id === null ? '' : ` as ${registration.principal_id}`;
  return `${registration.agent_name}: ${registration.status}${made}`;
}
