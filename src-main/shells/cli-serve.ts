import type { ExitCode } from './cli-exit.ts';
import { type Program, usageFault } from './cli-program.ts';

/** `charon serve`: the engine without a window, until a signal comes. */
export function addServe(program: Program): void {
  program.root
    .command('serve')
    .description('serve agents at the loopback door until SIGINT or SIGTERM')
    .option('--port <number>', 'port of the agent door, 0 for any free one (default: the settings, else 18484)')
    .option('--owner-page', 'serve the desk too, for a browser; the address is printed and works once')
    .action((options: { port?: string; ownerPage?: boolean }) =>
      program.actAlone(async ({ home, json, print }): Promise<ExitCode | undefined> => {
        const port = options.port === undefined ? null : parsePort(options.port);
        const { serve } = await import('./headless.ts');
        return serve({ home, env: process.env, port, ownerPage: options.ownerPage ?? false, json, print });
      }),
    );
}

function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw usageFault('--port', 'a port is a number from 0 to 65535.');
}
