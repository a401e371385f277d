import type { Environment } from '../home/home.ts';
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
    .option('--mode <mode>', 'legacy: sessions, git: memory, hybrid: both (default: $LETHE_MODE, else git)')
    .option(
      '--assembly-retention-days <days>',
      'let assemblies of sessions go when they are older, 0 never (default: $LETHE_ASSEMBLY_RETENTION_DAYS, else 30)',
    )
    .option(
      '--assembly-max-per-session <number>',
      'keep so many of a session, 0 all (default: $LETHE_ASSEMBLY_MAX_PER_SESSION, else 500)',
    )
    .action((options: ServeOptions) =>
      program.actAlone(async ({ home, json, print }) => {
        const bind = options.http === undefined ? bindDefault : parseBind(options.http);
        const { serveStore } = await import('./lethe-headless.ts');
        return serveStore({ home, json, print, env: environmentOf(options), bind });
      }),
    );
}

interface ServeOptions {
  readonly http?: string;
  readonly mode?: string;
  readonly assemblyRetentionDays?: string;
  readonly assemblyMaxPerSession?: string;
}

/** The environment, in which a flag stands for its variable; -1 is as if a flag were left out (`lethe.md` §9.1). */
function environmentOf({ mode, assemblyRetentionDays, assemblyMaxPerSession }: ServeOptions): Environment {
  const flags = {
    LETHE_MODE: mode,
    LETHE_ASSEMBLY_RETENTION_DAYS: assemblyRetentionDays,
    LETHE_ASSEMBLY_MAX_PER_SESSION: assemblyMaxPerSession,
  };
  const given = Object.entries(flags).filter(([, value]) => value !== undefined && value !== '-1');
  return { ...process.env, ...Object.fromEntries(given) };
}
