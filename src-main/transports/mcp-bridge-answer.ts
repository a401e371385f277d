import { type JSONRPCMessage, type JSONRPCRequest, PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { Fault } from '../base/fault.ts';
import { toolRefusal } from './mcp-result.ts';

/** JSON-RPC's code for a failure on the server's side; MCP has none for a server that is away. */
const internalError = -32_603;

/**
 * What a client is told when the door could not be asked or would not answer (B4, B7): for a tool a tool's refusal, which
 * models see; for anything else a JSON-RPC error with the same sentence.
 */
export function refusalAnswer(request: JSONRPCRequest, fault: Fault): JSONRPCMessage {
  const { jsonrpc, id } = request;
  if (request.method === 'tools/call') {
    const stamp = isModern(request) ? { resultType: 'complete' } : {};
    return { jsonrpc, id, result: { ...toolRefusal(fault), ...stamp } };
  }
  return { jsonrpc, id, error: { code: internalError, message: fault.message, data: fault.toWire() } };
}

/**
 * What a client is told when its request was sent and the answer never came (B6). A subscription is ended in the way in
 * which MCP ends one over standard output, so that the client may subscribe anew.
 */
export function lostAnswer(request: JSONRPCRequest): JSONRPCMessage {
  if (request.method !== 'subscriptions/listen') return refusalAnswer(request, answerLost());
  const params = { requestId: request.id, reason: 'Memory Git was closed or restarted. Subscribe again.' };
  return { jsonrpc: request.jsonrpc, method: 'notifications/cancelled', params };
}

function answerLost(): Fault {
  return new Fault(
    'CLOSED',
    'The connection to Memory Git broke before the answer came: the request was carried out or it was not. Look at the present state, or send it again with the same idempotency_key.',
  );
}

const modernSchema = z.object({
  params: z.object({ _meta: z.object({ [PROTOCOL_VERSION_META_KEY]: z.string() }) }),
});

/** Whether a client of 2026-07-28 asks: its results must say that they are complete. */
function isModern(request: JSONRPCRequest): boolean {
  return modernSchema.safeParse(request).success;
}
