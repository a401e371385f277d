import { setTimeout as sleep } from 'node:timers/promises';
import { isJSONRPCResultResponse, type JSONRPCMessage } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { Fault } from '../base/fault.ts';
import { type DoorAddress, exchange, type Outcome } from './mcp-bridge-exchange.ts';
import { findLiveness } from './port-holder.ts';

/** Where the agent door should be at this moment. */
export interface DoorPlace {
  /** A port of 127.0.0.1; undefined when nothing says where the door is. */
  readonly port: number | undefined;
  /** Another text for every start of the host, as far as that is known: a door that was restarted is met anew. */
  readonly instance: string;
  /** What to say when no Memory Git answers there. */
  readonly absent: Fault;
}

export interface ReachOptions {
  /** Asked for every message, since the door may come back on another port. */
  readonly findDoor: () => DoorPlace;
  /** Asked for every message, so that a new token in the file is used at once. Throws the fault to answer with. */
  readonly readToken: () => string;
  /** How often a door that does not answer is tried, and how long apart in milliseconds. */
  readonly triesMax: number;
  readonly tryEveryMs: number;
  /** Says something to people: never protocol. */
  readonly say: (text: string) => void;
}

export interface Reach {
  /** Carries a message to the door, waiting a little for one that is just coming back. Rejects for bugs of our own only. */
  carry(
    message: JSONRPCMessage,
    options: { readonly signal: AbortSignal; readonly deliver: (message: JSONRPCMessage) => void },
  ): Promise<Outcome>;
}

/**
 * The way to a door that comes and goes (B4, B5). The token is sent to no port before a Memory Git was heard there (B8).
 * Only what nobody took is sent again; what may have been carried out never is (B6).
 */
export function reachDoor(options: ReachOptions): Reach {
  const { findDoor, say } = options;
  let met: string | undefined;
  let introduction: JSONRPCMessage | undefined;
  let protocolVersion: string | undefined;

  /** The door's address and the token for it, or what to say instead. */
  async function find(): Promise<DoorAddress | Fault> {
    const { port, instance, absent } = findDoor();
    const door = `${port}/${instance}`;
    if (port === undefined || (met !== door && (await findLiveness(port)) === undefined)) return absent;
    const token = tokenOr(options.readToken);
    if (token instanceof Fault) return token;
    const address = { url: new URL(`http://127.0.0.1:${port}/mcp`), token, protocolVersion };
    if (met !== door) {
      met = door;
      say(`connected to ${address.url}`);
      await introduce(address);
    }
    return address;
  }

  /** A 2025 client gives its name in `initialize` only: a door that never heard it is told, and its answer is of no use. */
  async function introduce(address: DoorAddress): Promise<void> {
    if (introduction === undefined) return;
    const signal = AbortSignal.timeout(introductionMs);
    await exchange(introduction, { ...address, protocolVersion: undefined }, { signal, deliver: () => undefined });
  }

  return {
    async carry(message, { signal, deliver }) {
      const opens = 'method' in message && message.method === 'initialize';
      const deliverAndLearn = (received: JSONRPCMessage): void => {
        if (opens) protocolVersion = findAgreedVersion(received) ?? protocolVersion;
        if (opens) introduction = message;
        deliver(received);
      };
      for (let tried = 1; ; tried += 1) {
        const found = await find();
        if (signal.aborted) return { kind: 'cancelled' };
        // A token that cannot be used is said at once; a door may still come.
        if (found instanceof Fault && found.kind !== 'unavailable') return { kind: 'refused', fault: found };
        if (!(found instanceof Fault)) {
          const address = opens ? { ...found, protocolVersion: undefined } : found;
          const outcome = await exchange(message, address, { signal, deliver: deliverAndLearn });
          if (outcome.kind === 'absent' || outcome.kind === 'broken') met = undefined;
          if (outcome.kind !== 'absent') return outcome;
        }
        if (tried >= options.triesMax)
          return { kind: 'refused', fault: found instanceof Fault ? found : findDoor().absent };
        await sleep(options.tryEveryMs, undefined, { signal }).catch(() => undefined);
      }
    },
  };
}

/** How long a request waits for the door to hear who asks: a name is worth no more. */
const introductionMs = 2_000;

function tokenOr(readToken: () => string): string | Fault {
  try {
    return readToken();
  } catch (thrown) {
    if (thrown instanceof Fault) return thrown;
    throw thrown;
  }
}

const agreedSchema = z.object({ protocolVersion: z.string() });

function findAgreedVersion(message: JSONRPCMessage): string | undefined {
  return isJSONRPCResultResponse(message) ? agreedSchema.safeParse(message.result).data?.protocolVersion : undefined;
}
