import type { OwnerRequest } from '../../src-preload/contract/commands/owner-word.ts';
import type { EngineEvent } from '../../src-preload/contract/events.ts';
import type { FaultCode } from '../../src-preload/contract/faults.ts';
import type { RequestId } from '../../src-preload/contract/ids.ts';
import { type Clock, toTimestamp } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';

/** Acts that wait at once; more are refused. */
export const waitingMax = 16;

/** How long an act waits for the owner, and how long a desk that went away counts as open: a page that is loaded anew is back sooner. */
export interface WaitingTimes {
  readonly lifeMs: number;
  readonly graceMs: number;
}

export const waitingTimes: WaitingTimes = { lifeMs: 120_000, graceMs: 3_000 };

/** What is asked for: the request as the desk shows it, what tells that its client does not want it any more, and who hears that it waits. */
interface Asked extends Omit<OwnerRequest, 'created_at' | 'expires_at'> {
  readonly signal: AbortSignal | undefined;
  readonly onWaiting: () => void;
}

/** Acts of power that wait for the owner's click, and whether a desk is open to give it (`charon.md` §8). */
export interface OwnerRequests {
  /** A desk listens from now on; returns how it ends. */
  attachDesk(): () => void;
  isDeskOpen(): boolean;
  /**
   * Resolves once the owner allowed it. Throws OWNER_REFUSED, OWNER_REQUEST_EXPIRED after two minutes, OWNER_REQUEST_CANCELED
   * when its client went away, DESK_CLOSED when the last desk did, OWNER_REQUEST_CLOSED when the engine ends, and
   * OWNER_REQUESTS_FULL at once while 16 wait.
   */
  ask(asked: Asked): Promise<void>;
  /** Oldest first. */
  list(): readonly OwnerRequest[];
  /** Throws OWNER_REQUEST_NOT_FOUND for one that does not wait. */
  require(requestId: RequestId): void;
  decide(requestId: RequestId, decision: 'allow' | 'refuse'): void;
  /** Refuses all that wait, and whatever is asked from now on. */
  close(): void;
}

interface Waiting {
  readonly request: OwnerRequest;
  readonly expiresMs: number;
  /** Ends the wait: without a fault it was allowed. */
  end(fault: Fault | undefined): void;
}

/** Nothing of it is kept over a restart: a client that waits ends with its engine. */
export function createOwnerRequests(options: {
  readonly clock: Clock;
  readonly publish: (events: readonly EngineEvent[]) => void;
  readonly times: WaitingTimes;
}): OwnerRequests {
  const { clock, publish, times } = options;
  const waiting = new Map<RequestId, Waiting>();
  const desk = createDeskWatch(times.graceMs, () => endAll(refusal('DESK_CLOSED')));
  let closed = false;

  const endAll = (fault: Fault): void => {
    for (const { end } of [...waiting.values()]) end(fault);
  };
  const get = (requestId: RequestId): Waiting => {
    const found = waiting.get(requestId);
    // On a machine that slept the time is over before the timer knows.
    if (found !== undefined && clock.nowMs() < found.expiresMs) return found;
    found?.end(refusal('OWNER_REQUEST_EXPIRED'));
    throw refusal('OWNER_REQUEST_NOT_FOUND');
  };
  const wait = ({ signal, onWaiting, ...request }: Asked): Promise<void> =>
    new Promise((resolve, reject) => {
      const nowMs = clock.nowMs();
      const expiresMs = nowMs + times.lifeMs;
      const end = (fault: Fault | undefined): void => {
        clearTimeout(limit);
        signal?.removeEventListener('abort', gone);
        waiting.delete(request.request_id);
        if (fault === undefined) resolve();
        else reject(fault);
        publish([{ kind: 'owner_requests_changed' }]);
      };
      const gone = (): void => end(refusal('OWNER_REQUEST_CANCELED'));
      const limit = setTimeout(() => end(refusal('OWNER_REQUEST_EXPIRED')), times.lifeMs);
      limit.unref();
      signal?.addEventListener('abort', gone, { once: true });
      const shown = { ...request, created_at: toTimestamp(nowMs), expires_at: toTimestamp(expiresMs) };
      waiting.set(request.request_id, { request: shown, expiresMs, end });
      onWaiting();
      publish([{ kind: 'owner_requests_changed' }]);
    });

  return {
    attachDesk: desk.attach,
    isDeskOpen: desk.isOpen,
    ask: async (asked) => {
      if (closed) throw refusal('OWNER_REQUEST_CLOSED');
      if (asked.signal?.aborted === true) throw refusal('OWNER_REQUEST_CANCELED');
      if (waiting.size >= waitingMax) throw refusal('OWNER_REQUESTS_FULL');
      await wait(asked);
    },
    list: () => [...waiting.values()].map(({ request }) => request),
    require: (requestId) => void get(requestId),
    decide: (requestId, decision) => get(requestId).end(decision === 'allow' ? undefined : refusal('OWNER_REFUSED')),
    close: () => {
      closed = true;
      desk.stop();
      endAll(refusal('OWNER_REQUEST_CLOSED'));
    },
  };
}

/** Whether a desk is open: one that went away counts for a moment longer. `onClosed` is told when the last one has gone. */
function createDeskWatch(graceMs: number, onClosed: () => void) {
  let attached = 0;
  let leaving: NodeJS.Timeout | undefined;
  const left = (): void => {
    leaving = undefined;
    onClosed();
  };
  const detach = (): void => {
    attached -= 1;
    if (attached > 0) return;
    leaving = setTimeout(left, graceMs);
    leaving.unref();
  };
  return {
    isOpen: () => attached > 0 || leaving !== undefined,
    attach: () => {
      attached += 1;
      clearTimeout(leaving);
      leaving = undefined;
      let isAttached = true;
      return () => {
        if (isAttached) detach();
        isAttached = false;
      };
    },
    stop: () => clearTimeout(leaving),
  };
}

const words = {
  OWNER_REFUSED: 'The owner refused it at the desk. Nothing was done.',
  OWNER_REQUEST_EXPIRED: 'The owner said nothing at the desk within two minutes. Nothing was done; ask again.',
  OWNER_REQUEST_CANCELED: 'It was taken back before the owner said anything. Nothing was done.',
  OWNER_REQUEST_CLOSED:
    'Memory Git is shutting down before the owner said anything. Nothing was done; ask again when it is back.',
  OWNER_REQUESTS_FULL: `${waitingMax} requests wait for the owner's word at the desk already. Nothing was done; ask again later.`,
  DESK_CLOSED: 'The desk was closed before the owner said anything. Nothing was done; ask again.',
  OWNER_REQUEST_NOT_FOUND: 'This request does not wait any more: it was decided, taken back, or waited too long.',
} as const satisfies Partial<Record<FaultCode, string>>;

function refusal(code: keyof typeof words): Fault {
  return new Fault(code, words[code]);
}
