import type { FastifyReply } from 'fastify';
import { Fault } from '../base/fault.ts';
import { rateLimited } from './agent-credentials.ts';
import { sendFault } from './door-server.ts';

/** So many requests at once, and none of them for ever (T13, T19). */
export interface Places {
  /**
   * Takes a place for the answer to a request; it is given back when the answer ends, or when whoever asked goes away.
   * Throws RATE_LIMITED when none is free, or this holder has its share.
   */
  enter(reply: FastifyReply, holder: string): void;
  /** The answer is in the hands of the HTTP library from now on, which may still wait for its first part. */
  handOver(reply: FastifyReply): void;
  leave(reply: FastifyReply): void;
  /** Cuts off everybody who holds a place. */
  empty(): void;
}

export interface PlacesOptions {
  readonly max: number;
  /** What is said when none is free. */
  readonly refusal: string;
  /** How long an answer may take to begin; undefined for streams, which begin at once and wait for news. Milliseconds. */
  readonly answerTimeoutMs?: number | undefined;
  /** How long a part of an answer may lie for its reader to take it: an event, or an answer that is sent whole. Milliseconds. */
  readonly stallTimeoutMs: number;
  /** Says it to whoever waited too long for an answer; left out: in the form of this door. */
  readonly refuse?: ((reply: FastifyReply, fault: Fault) => void) | undefined;
}

interface Held {
  readonly holder: string;
  readonly sinceMs: number;
  handedOver: boolean;
  /** What the connection had taken when it was last looked at, and since when it has been so. */
  taken: number;
  takenMs: number;
}

/** The part of the places that one holder may have: a flood of one leaves room for the others. */
const shareOfOne = 0.75;
const lookEveryMsMax = 1_000;

/** Empty places; they look after themselves while somebody holds one. */
export function createPlaces(options: PlacesOptions): Places {
  const { max, refusal, answerTimeoutMs, stallTimeoutMs, refuse = sendFault } = options;
  const shareMax = Math.ceil(max * shareOfOne);
  const held = new Map<FastifyReply, Held>();
  const heldBy = new Map<string, number>();
  const lookEveryMs = Math.min(lookEveryMsMax, stallTimeoutMs / 4, (answerTimeoutMs ?? stallTimeoutMs) / 4);
  let looking: NodeJS.Timeout | undefined;

  const leave = (reply: FastifyReply): void => {
    const place = held.get(reply);
    if (place === undefined) return;
    held.delete(reply);
    const left = (heldBy.get(place.holder) ?? 1) - 1;
    if (left > 0) heldBy.set(place.holder, left);
    else heldBy.delete(place.holder);
    if (held.size > 0) return;
    clearInterval(looking);
    looking = undefined;
  };
  const look = (): void => {
    const nowMs = performance.now();
    for (const [reply, place] of held) {
      const late = answerTimeoutMs !== undefined && nowMs - place.sinceMs >= answerTimeoutMs;
      if (late && !place.handedOver) refuse(reply.header('connection', 'close'), tooLate());
      // A stream that was promised and has not begun: there is no way any more to say why it ends.
      else if (late && !reply.raw.headersSent) reply.raw.destroy();
      else if (isStuck(reply, place, nowMs, stallTimeoutMs)) reply.raw.destroy();
    }
  };
  return {
    leave,
    handOver(reply) {
      const place = held.get(reply);
      if (place !== undefined) place.handedOver = true;
    },
    empty() {
      for (const reply of held.keys()) reply.raw.destroy();
    },
    enter(reply, holder) {
      const mine = heldBy.get(holder) ?? 0;
      if (held.size >= max) throw rateLimited(refusal, 1_000);
      if (mine >= shareMax) throw rateLimited('This principal has too many requests open at once.', 1_000);
      const nowMs = performance.now();
      held.set(reply, { holder, sinceMs: nowMs, handedOver: false, taken: 0, takenMs: nowMs });
      heldBy.set(holder, mine + 1);
      looking ??= setInterval(look, lookEveryMs).unref();
      reply.raw.once('close', () => leave(reply));
    },
  };
}

/** True when there has been something to take for so long and no part of it was taken whole. */
function isStuck({ raw }: FastifyReply, place: Held, nowMs: number, stallTimeoutMs: number): boolean {
  const { socket } = raw;
  const waiting = raw.writableLength + (socket?.writableLength ?? 0);
  const taken = socket === null ? 0 : socket.bytesWritten - socket.writableLength;
  if (waiting === 0 || taken !== place.taken) {
    place.taken = taken;
    place.takenMs = nowMs;
    return false;
  }
  return nowMs - place.takenMs >= stallTimeoutMs;
}

function tooLate(): Fault {
  return new Fault(
    'TIMED_OUT',
    'The answer took too long. What was asked may be done all the same: ask again with the same idempotency key.',
  );
}
