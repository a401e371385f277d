import { Fault } from '../base/fault.ts';
import { type Environment, homeExists, homePaths } from '../home/home.ts';
import { readHost } from '../home/host-file.ts';
import type { DoorPlace } from '../transports/mcp-bridge-reach.ts';
import { usageFault } from './cli-program.ts';

/**
 * Where the agent door of a home is, looked up anew each time: after a restart it may have another port (B5).
 */
export function doorOfHome(home: string, env: Environment): () => DoorPlace {
  const paths = homePaths(home, env);
  return () => {
    const host = readHost(paths.host);
    return {
      port: findLoopbackPort(host?.mcp ?? ''),
      instance: host?.nonce ?? '',
      absent: homeExists(paths) ? notRunning() : noHome(),
    };
  };
}

/** The door at a given address. Throws INPUT_INVALID for anything but an agent door's address on this machine. */
export function doorAt(url: string): () => DoorPlace {
  const port = findLoopbackPort(url);
  if (port !== undefined) return () => ({ port, instance: '', absent: nobodyThere() });
  throw usageFault(
    '--url',
    'the agent door is on this machine only. Write http://127.0.0.1:PORT/mcp as Memory Git shows it, or leave --url out.',
  );
}

/** The port in the address of an agent door; a token goes over plain HTTP to this machine and nowhere else (B8). */
function findLoopbackPort(text: string): number | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' || !['127.0.0.1', 'localhost'].includes(url.hostname)) return undefined;
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') return undefined;
  if (url.pathname !== '/' && url.pathname !== '/mcp') return undefined;
  return url.port === '' ? 80 : Number(url.port);
}

function notRunning(): Fault {
  return new Fault(
    'CLOSED',
    'Memory Git is not running. Start it (open the app, or run `charon serve`), then try again.',
  );
}

function noHome(): Fault {
  return new Fault(
    'HOME_INVALID',
    'There is no Memory Git home at that place. Start Memory Git once, or name its home with --home or MEMORY_GIT_HOME.',
  );
}

function nobodyThere(): Fault {
  return new Fault(
    'CLOSED',
    'No Memory Git answers at the address of --url. Start it there, or leave --url out so that the running one is found.',
  );
}
