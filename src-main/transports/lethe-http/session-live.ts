import type { ServerResponse } from 'node:http';
import { type Encodable, encodePlain } from '../../canonical/json.ts';
import { type Answer, refusal } from './answer.ts';

/** What the live stream tells: each once it is durable. */
export type LiveKind = 'event' | 'checkpoint';

/** The stream of what sessions do (`lethe.md` §1.4): a ping at first and then every 15 s, and whatever is published. */
export interface LiveFeed {
  publish(kind: LiveKind, value: Encodable): void;
  /** An answer that stays open, or 503 when too many do. */
  subscribe(): Answer;
  /** How many listen. */
  readonly listeners: number;
  close(): void;
}

/** How much a feed bears. */
export interface LiveBounds {
  readonly listenersMax: number;
  /** Bytes that may wait for one listener: one that does not read is let go. */
  readonly waitingBytesMax: number;
  readonly pingMs: number;
}

export const liveBounds: LiveBounds = { listenersMax: 64, waitingBytesMax: 1_048_576, pingMs: 15_000 };

const ping = 'event: ping\ndata: {}\n\n';

/** Opens a feed without listeners. */
export function createLiveFeed(bounds: LiveBounds = liveBounds): LiveFeed {
  const listeners = new Set<ServerResponse>();
  let timer: NodeJS.Timeout | undefined;
  const tell = (text: string): void => {
    for (const response of listeners) {
      if (response.writableLength > bounds.waitingBytesMax) response.destroy();
      else response.write(text);
    }
  };
  const leave = (response: ServerResponse): void => {
    listeners.delete(response);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  const stream = (response: ServerResponse): void => {
    listeners.add(response);
    response.once('close', () => leave(response));
    timer ??= setInterval(() => tell(ping), bounds.pingMs);
    response.write(ping);
  };
  return {
    publish: (kind, value) => {
      if (listeners.size > 0) tell(`event: ${kind}\ndata: ${encodePlain(value)}\n\n`);
    },
    subscribe: () => {
      if (listeners.size >= bounds.listenersMax) return refusal(503, 'too many live listeners');
      return { status: 200, type: 'text/event-stream', body: '', stream };
    },
    get listeners() {
      return listeners.size;
    },
    close: () => {
      for (const response of listeners) response.end();
    },
  };
}
