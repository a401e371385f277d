import { agentProfileSchema, type Obol, type Principal } from '../../src-preload/contract/principal.ts';
import { parseDuration } from './cli-duration.ts';
import { type Program, usageFault } from './cli-program.ts';
import { table } from './cli-text.ts';

/** `charon principal`: agents and what they may do. */
export function addPrincipalVerbs(program: Program): void {
  const principal = program.root.command('principal').description('agents: who there is and what each may do');
  principal
    .command('reconcile')
    .description('find the agent of exactly that name or create it, set its profile, add the grant; takes nothing away')
    .argument('<name>', 'its name, such as "Claude on my laptop"')
    .argument('<profile>', `one of ${agentProfileSchema.options.join(', ')}`)
    .argument('<project>', 'the project it may work in; * for reading all')
    .option('--actor-id <id>', 'the name of its branches, for a new agent (default: its id)')
    .action((name: string, profile: string, project: string, options: { actorId?: string }) =>
      program.act(
        async ({ call, print, warn }) => {
          const known = agentProfileSchema.safeParse(profile);
          if (!known.success) throw usageFault('profile', `one of ${agentProfileSchema.options.join(', ')}.`);
          if (known.data === 'review') warn(reviewWarning);
          const done = await call('principal.reconcile', {
            name,
            profile: known.data,
            project,
            ...(options.actorId === undefined ? {} : { actor_id: options.actorId }),
          });
          print(done, `${done.created ? 'Created' : 'Found'}\n${principalText(done.principal)}`);
          return undefined;
        },
        { create: true },
      ),
    );
  principal
    .command('list')
    .description('every agent with its profile, grants and tokens')
    .action(() =>
      program.act(async ({ call, print }) => {
        const listed = await call('principal.list', {});
        const rows = listed.principals.map((row) => [
          row.principal_id,
          row.name,
          row.profile,
          row.enabled ? 'yes' : 'no',
          row.grants.join(', '),
          String(row.obols.filter(isLive).length),
        ]);
        print(listed, table(['ID', 'NAME', 'PROFILE', 'ENABLED', 'PROJECTS', 'TOKENS'], rows));
        return undefined;
      }),
    );
  for (const enabled of [true, false]) {
    principal
      .command(enabled ? 'enable' : 'disable')
      .description(enabled ? 'let it work again' : 'refuse everything it asks from now on; what it wrote stays')
      .argument('<principal-id>')
      .action((id: string) =>
        program.act(async ({ call, print }) => {
          const changed = await call('principal.set_enabled', { principal_id: id, enabled });
          print(changed, principalText(changed));
          return undefined;
        }),
      );
  }
}

/** `charon obol`: the tokens of agents. */
export function addObolVerbs(program: Program): void {
  const obol = program.root.command('obol').description('tokens: what an agent shows at the door');
  obol
    .command('mint')
    .description('make a token for one agent; it is shown once')
    .argument('<principal-id>')
    .option('--expires <time>', 'how long it lives: 7d, 12h, at most 90d, or never', '7d')
    .action((id: string, options: { expires: string }) =>
      program.act(async ({ call, print, warn }) => {
        const expiresMs = parseDuration(options.expires);
        if (expiresMs === null)
          warn('this token never expires. Revoke it when the agent no longer needs it: charon obol revoke <id>.');
        const { principals } = await call('principal.list', {});
        if (principals.find((row) => row.principal_id === id)?.profile === 'review') warn(reviewWarning);
        const minted = await call('obol.mint', { principal_id: id, expires_ms: expiresMs });
        print(minted, mintedText(minted.obol, minted.token));
        return undefined;
      }),
    );
  obol
    .command('ls')
    .description('tokens, of one agent or of all; never the secret')
    .argument('[principal-id]')
    .action((id: string | undefined) =>
      program.act(async ({ call, print }) => {
        const listed = await call('obol.list', id === undefined ? {} : { principal_id: id });
        const rows = listed.obols.map((row) => [
          row.obol_id,
          row.principal_id,
          stateOf(row),
          row.created_at,
          row.expires_at ?? 'never',
          row.last_used_at ?? '-',
          row.last_client ?? '-',
        ]);
        print(listed, table(['ID', 'PRINCIPAL', 'STATE', 'CREATED', 'EXPIRES', 'LAST USED', 'CLIENT'], rows));
        return undefined;
      }),
    );
  obol
    .command('reapprove')
    .description('let a token in again that was minted before a restore')
    .argument('<obol-id>')
    .action((id: string) =>
      program.act(async ({ call, print }) => {
        const approved = await call('obol.reapprove', { obol_id: id });
        print(approved, `Approved again: ${approved.obol_id}`);
        return undefined;
      }),
    );
  obol
    .command('revoke')
    .description('refuse a token from now on; this cannot be undone')
    .argument('<obol-id>')
    .action((id: string) =>
      program.act(async ({ call, print }) => {
        const revoked = await call('obol.revoke', { obol_id: id });
        print(revoked, `Revoked: ${revoked.obol_id}`);
        return undefined;
      }),
    );
}

const reviewWarning = 'an agent of the review profile can put memory into main without you.';

function principalText(principal: Principal): string {
  return table(
    ['ID', 'NAME', 'PROFILE', 'ENABLED', 'PROJECTS'],
    [
      [
        principal.principal_id,
        principal.name,
        principal.profile,
        principal.enabled ? 'yes' : 'no',
        principal.grants.join(', '),
      ],
    ],
  );
}

function mintedText(obol: Obol, token: string): string {
  return [
    `ID: ${obol.obol_id}`,
    `Principal: ${obol.principal_id}`,
    `Audience: ${obol.audience}`,
    `Expires: ${obol.expires_at ?? 'never'}`,
    `Token: ${token}`,
  ].join('\n');
}

function isLive(obol: Obol): boolean {
  return stateOf(obol) === 'live';
}

function stateOf(obol: Obol): 'live' | 'revoked' | 'expired' | 'epoch' {
  if (obol.revoked_at !== null) return 'revoked';
  if (obol.needs_reapproval === true) return 'epoch';
  return obol.expires_at !== null && Date.parse(obol.expires_at) <= Date.now() ? 'expired' : 'live';
}
