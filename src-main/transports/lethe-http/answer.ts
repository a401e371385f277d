import type { ServerResponse } from 'node:http';
import type { Fault } from '../../base/fault.ts';
import { type Encodable, encodePlain } from '../../canonical/json.ts';

/** What a route answers with: status, media type, and the body's text. */
export interface Answer {
  readonly status: number;
  readonly type: string | undefined;
  readonly body: string;
  /** What is refused, for a client that asks for refusals with their codes. */
  readonly fault?: Fault;
  /** Takes over the body of an answer that stays open. */
  readonly stream?: (response: ServerResponse) => void;
}

/** One JSON value and a newline, in the encoding of the protocol (`lethe.md` §1.0). */
export function json(value: Encodable, status = 200): Answer {
  return { status, type: 'application/json', body: `${encodePlain(value)}\n` };
}

/** A refusal: `{"error": text}`. */
export function refusal(status: number, text: string): Answer {
  return json({ error: text }, status);
}

export function plainText(status: number, type: string, body: string): Answer {
  return { status, type, body };
}

/** What a path that is not there answers. */
export const pathNotFound: Answer = plainText(404, 'text/plain; charset=utf-8', '404 page not found\n');
/** What a known path answers to another method. */
export const methodNotAllowed: Answer = { status: 405, type: undefined, body: '' };
