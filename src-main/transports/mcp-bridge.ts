import type { Readable, Writable } from 'node:stream';
import { isJSONRPCRequest, type JSONRPCMessage, type RequestId } from '@modelcontextprotocol/client';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
import { toFault } from '../base/fault.ts';
import { lostAnswer, refusalAnswer } from './mcp-bridge-answer.ts';
import type { Outcome } from './mcp-bridge-exchange.ts';
import { type ReachOptions, reachDoor } from './mcp-bridge-reach.ts';

export interface McpBridgeOptions extends ReachOptions {
  readonly stdin: Readable;
  readonly stdout: Writable;
}

/**
 * MCP over standard input and output for clients that know nothing else, bridged to the agent door message by message:
 * the door decides everything, in either era of the protocol (B1, B2). Only protocol is written to `stdout` (B3).
 * Resolves when `stdin` closes (B10). Never rejects for what a client sends.
 */
export async function runMcpBridge(options: McpBridgeOptions): Promise<void> {
  const say = onlyNews(options.say);
  const reach = reachDoor({ ...options, say });
  const stdio = new StdioServerTransport(options.stdin, options.stdout);
  const inFlight = new Map<RequestId, AbortController>();
  // A client that went away reads no answer.
  const deliver = (message: JSONRPCMessage): void => void stdio.send(message).catch(() => undefined);

  async function carry(message: JSONRPCMessage): Promise<void> {
    const controller = new AbortController();
    const request = isJSONRPCRequest(message) ? message : undefined;
    if (request !== undefined) inFlight.set(request.id, controller);
    const outcome = await reach.carry(message, { signal: controller.signal, deliver }).catch(asRefusal);
    if (request !== undefined && inFlight.get(request.id) === controller) inFlight.delete(request.id);
    if (outcome.kind === 'refused') say(outcome.fault.message);
    if (outcome.kind === 'broken') say('the connection to Memory Git broke');
    if (request === undefined) return;
    if (outcome.kind === 'refused') deliver(refusalAnswer(request, outcome.fault));
    if (outcome.kind === 'broken') deliver(lostAnswer(request));
  }

  const ended = new Promise<void>((resolve) => {
    stdio.onclose = resolve;
  });
  stdio.onerror = (error) => say(`something of the client could not be read or written (${error.name})`);
  stdio.onmessage = (message) => {
    const cancelled = findCancelled(message);
    if (cancelled === undefined) void carry(message);
    else inFlight.get(cancelled)?.abort();
  };
  await stdio.start();
  await ended;
  for (const controller of inFlight.values()) controller.abort();
}

function asRefusal(thrown: unknown): Outcome {
  return { kind: 'refused', fault: toFault(thrown) };
}

/** Leaves out what was said last, so that a client's log is not filled with one sentence. */
function onlyNews(say: (text: string) => void): (text: string) => void {
  let last = '';
  return (text) => {
    if (text !== last) say(text);
    last = text;
  };
}

const cancelledSchema = z.object({
  method: z.literal('notifications/cancelled'),
  params: z.object({ requestId: z.union([z.string(), z.number()]) }),
});

/** The request that a client takes back. Over HTTP that is a cut connection, so this message itself goes no further (B9). */
function findCancelled(message: JSONRPCMessage): RequestId | undefined {
  return cancelledSchema.safeParse(message).data?.params.requestId;
}
