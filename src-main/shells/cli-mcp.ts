import { exitCodes } from './cli-exit.ts';
import type { Program } from './cli-program.ts';
import { visible } from './cli-text.ts';

const help = `
The token comes from the environment, MEMORY_GIT_TOKEN, or from the file of --token-file; never from an argument.
It ends when its standard input closes. While Memory Git is not running, requests are answered with a sentence that
says so, and it connects again by itself.`;

/** How long a door that does not answer is waited for before the client is told: 5 s, about what a restart takes. */
const triesMax = 21;
const tryEveryMs = 250;

/** `charon mcp`: MCP over standard input and output for clients that know only that (`charon.md` §3). */
export function addMcp(program: Program): void {
  program.root
    .command('mcp')
    .description('serve one MCP client over standard input and output, through the running agent door')
    .option('--url <address>', 'the agent door, http://127.0.0.1:PORT/mcp (default: where the home says it is)')
    .option('--token-file <file>', 'a file of mode 0600 that holds the token (default: $MEMORY_GIT_TOKEN)')
    .addHelpText('after', help)
    .action((options: { url?: string; tokenFile?: string }) =>
      program.actAlone(async ({ home, warn }) => {
        const { doorAt, doorOfHome } = await import('./mcp-door.ts');
        const { tokenSource } = await import('./mcp-token.ts');
        const findDoor = options.url === undefined ? doorOfHome(home, process.env) : doorAt(options.url);
        const readToken = tokenSource(options.tokenFile, process.env);
        // A token that cannot be used is said at once, where whoever configures the client sees it.
        readToken();
        const { runMcpBridge } = await import('../transports/mcp-bridge.ts');
        const { stdin, stdout } = process;
        const say = (text: string): void => warn(visible(text));
        await runMcpBridge({ stdin, stdout, findDoor, readToken, triesMax, tryEveryMs, say });
        return exitCodes.done;
      }),
    );
}
