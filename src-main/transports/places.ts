import type { FastifyReply } from 'fastify';
import { rateLimited } from './agent-credentials.ts';

/** So many at once (T13). */
export interface Places {
  /** Takes a place; it is given back when the answer ends, or when whoever asked goes away. Throws RATE_LIMITED. */
  enter(reply: FastifyReply): void;
  leave(reply: FastifyReply): void;
  /** Cuts off everybody who holds a place. */
  empty(): void;
}

/** `max` places; `refusal` says why there is none. */
export function places(max: number, refusal: string): Places {
  const taken = new Set<FastifyReply>();
  const leave = (reply: FastifyReply): void => {
    taken.delete(reply);
  };
  return {
    leave,
    empty() {
      for (const reply of taken) reply.raw.destroy();
    },
    enter(reply) {
      if (taken.size >= max) throw rateLimited(refusal, 1_000);
      taken.add(reply);
      reply.raw.once('close', () => leave(reply));
    },
  };
}
