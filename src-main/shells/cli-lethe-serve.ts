import { bindDefault, parseBind } from '../transports/lethe-http/access.ts';
import type { Program } from './cli-program.ts';

/** `lethe serve`: the store's own HTTP protocol, until a signal comes (`lethe.md` §1, `design.md` §3). */
export function addLetheServe(program: Program): void {
  program.root
    .command('serve')
    .description(
      'serve the store to gateways over HTTP until SIGINT or SIGTERM; the key is LETHE_API_KEY, else the one of the home beside a policy engine',
    )
    .option('--http <host:port>', `where to listen (default: ${bindDefault.host}:${bindDefault.port})`)
    .action((options: { http?: string }) =>
      program.actAlone(async ({ home, json, print }) => {
        const bind = options.http === undefined ? bindDefault : parseBind(options.http);
        const { serveStore } = await import('./lethe-headless.ts');
        return serveStore({ home, json, print, env: process.env, bind });
      }),
    );
}
