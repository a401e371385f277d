import { type FaultCode, type FaultKind, type FaultWire, faultKindByCode } from '../../src-preload/contract/faults.ts';

/**
 * A refusal: what happened and what to do, for people in `message`, for programs in `code` and `data`.
 * The message names the field and the remedy; it never holds memory content, a token or a path.
 */
export class Fault extends Error {
  override readonly name = 'Fault';
  readonly code: FaultCode;
  readonly data: Readonly<Record<string, unknown>>;

  constructor(code: FaultCode, message: string, data: Readonly<Record<string, unknown>> = {}, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.data = data;
  }

  get kind(): FaultKind {
    return faultKindByCode[this.code];
  }

  /** The form that crosses a door. */
  toWire(): FaultWire {
    return { code: this.code, kind: this.kind, message: this.message, data: this.data };
  }
}

/**
 * Any thrown value as a fault: a Fault stays what it is, everything else is our own bug and becomes `INTERNAL` with no
 * word of its text, since that could hold anything. The original stays reachable as `cause` for the log.
 */
export function toFault(thrown: unknown): Fault {
  if (thrown instanceof Fault) return thrown;
  return new Fault(
    'INTERNAL',
    'Something went wrong inside Memory Git. Nothing was changed by this request; the log names the cause.',
    {},
    { cause: thrown },
  );
}
