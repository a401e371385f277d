import { createServer } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { assert } from '../base/assert.ts';
import { Fault } from '../base/fault.ts';
import { findLiveness, findPortHolder } from './port-holder.ts';

/** The only address a door ever binds. */
export const loopbackAddress = '127.0.0.1';

const portsTriedMax = 50;
/** How often a door asks for its own nonce, a second each, before it believes that somebody else is there. */
const proofAttemptsMax = 10;

/**
 * Lets a door listen on a loopback port; 0 takes any free one. Returns the port.
 * Throws PORT_TAKEN with {port, holder, next_port}: who holds it when that can be known, and the next free port (T15).
 */
export async function listenOnLoopback(server: FastifyInstance, port: number): Promise<number> {
  try {
    await server.listen({ host: loopbackAddress, port });
  } catch (error) {
    await server.close();
    if (isPortRefusal(error)) throw await portTaken(port);
    throw error;
  }
  const [address] = server.addresses();
  assert(typeof address === 'object', 'a listening door has an address');
  return address.port;
}

/** PORT_TAKEN for a port that is held, or that the system does not give. */
export async function portTaken(port: number): Promise<Fault> {
  const [holder, nextPort] = await Promise.all([findPortHolder(port), findFreePort(port + 1)]);
  const who = holder === undefined ? 'another program' : holder;
  const remedy = nextPort === undefined ? 'Stop it, or choose another port.' : `Stop it, or use port ${nextPort}.`;
  return new Fault('PORT_TAKEN', `Port ${port} is taken by ${who}. ${remedy}`, {
    port,
    holder: holder ?? null,
    next_port: nextPort ?? null,
  });
}

function isPortRefusal(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EADDRINUSE' || error.code === 'EACCES');
}

async function findFreePort(from: number): Promise<number | undefined> {
  for (let port = from; port < Math.min(from + portsTriedMax, 65_536); port += 1) {
    if (await isFree(port)) return port;
  }
  return undefined;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ host: loopbackAddress, port }, () => probe.close(() => resolve(true)));
  });
}

/**
 * Proves that whoever answers on the port is this very door, by the nonce it alone knows until it is asked (T14).
 * On some systems two programs can hold one port; the one that is not heard must not say that it serves.
 * Throws PORT_TAKEN.
 */
export async function proveSelf(port: number, nonce: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const liveness = await findLiveness(port);
    if (liveness?.nonce === nonce) return;
    // No answer in time says nothing of who holds the port: on a busy machine this door is late to hear itself.
    if (liveness !== undefined || attempt === proofAttemptsMax) throw await portTaken(port);
  }
}
