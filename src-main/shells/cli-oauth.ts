import type { CommandOutput } from '../../src-preload/contract/commands/table.ts';
import type { Program } from './cli-program.ts';
import { table, visible } from './cli-text.ts';

/** `charon oauth`: programs that sign in instead of carrying a token (`charon.md` §2). */
export function addOauthVerbs(program: Program): void {
  const oauth = program.root
    .command('oauth')
    .description('programs that sign in: whether they may, who asks, who is in');
  for (const enabled of [true, false]) {
    oauth
      .command(enabled ? 'on' : 'off')
      .description(
        enabled
          ? 'programs may ask to sign in from now on; you decide each time'
          : 'nobody may ask, and whoever signed in is refused from now on',
      )
      .action(() =>
        program.act(async ({ call, print }) => {
          const state = await call('oauth.set_enabled', { enabled });
          print(state, state.enabled ? 'Signing in is on.' : 'Signing in is off.');
          return undefined;
        }),
      );
  }
  oauth
    .command('ls')
    .description('who asks to be let in, and who is in')
    .action(() =>
      program.act(async ({ call, print }) => {
        const [state, { requests }, { grants }] = [
          await call('oauth.status', {}),
          await call('oauth.pending', {}),
          await call('oauth.grants', {}),
        ];
        print({ ...state, requests, grants }, listText(state.enabled, requests, grants));
        return undefined;
      }),
    );
  oauth
    .command('approve')
    .description('let a program in as one agent for 24 hours, never with review, merge or trusted writes')
    .argument('<request-id>', 'whose number is the one in the browser')
    .argument('<principal-id>')
    .action((request: string, principal: string) =>
      program.act(async ({ call, print }) => {
        const approved = await call('oauth.approve', { request_id: request, principal_id: principal });
        print(approved, `${visible(approved.client_name)} is let in. The page in the browser goes on by itself.`);
        return undefined;
      }),
    );
  oauth
    .command('refuse')
    .description('turn a program away; it may ask again')
    .argument('<request-id>')
    .action((request: string) =>
      program.act(async ({ call, print }) => {
        const refused = await call('oauth.refuse', { request_id: request });
        print(refused, `${visible(refused.client_name)} was turned away.`);
        return undefined;
      }),
    );
  oauth
    .command('revoke')
    .description('end an access for good; the program may sign in again')
    .argument('<grant-id>')
    .action((grant: string) =>
      program.act(async ({ call, print }) => {
        const revoked = await call('oauth.revoke', { grant_id: grant });
        print(revoked, `The access of ${visible(revoked.client_name)} ended at ${revoked.revoked_at ?? ''}.`);
        return undefined;
      }),
    );
}

function listText(
  enabled: boolean,
  requests: CommandOutput<'oauth.pending'>['requests'],
  grants: CommandOutput<'oauth.grants'>['grants'],
): string {
  const asking = requests.map((one) => [one.request_id, one.match_code, one.client_name, one.returns_to]);
  const inside = grants.map((one) => [
    one.grant_id,
    one.principal_id,
    one.client_name,
    one.expires_at,
    one.revoked_at ?? '',
  ]);
  return [
    enabled ? 'Signing in is on.' : 'Signing in is off.',
    table(['REQUEST', 'NUMBER', 'PROGRAM', 'RETURNS TO'], asking),
    table(['ACCESS', 'PRINCIPAL', 'PROGRAM', 'UNTIL', 'ENDED'], inside),
  ].join('\n\n');
}
