import { z } from 'zod';
import { type FaultCode, type FaultKind, faultKindByCode } from '../../src-preload/contract/faults.ts';

/** A command that was refused or could not be carried out, as the desk shows it: code and data for programs, message for people. */
export class Refusal extends Error {
  readonly code: FaultCode;
  readonly kind: FaultKind;
  readonly data: Readonly<Record<string, unknown>>;

  constructor(code: FaultCode, message: string, data: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.name = 'Refusal';
    this.code = code;
    this.kind = faultKindByCode[code];
    this.data = data;
  }
}

const wireSchema = z.object({
  code: z.string(),
  message: z.string(),
  data: z.record(z.string(), z.unknown()).optional(),
});

/**
 * Reads what a door answered instead of a result: a fault, or an object that holds one under `fault`.
 * Anything else becomes INTERNAL, never the owner's mistake.
 */
export function readRefusal(value: unknown): Refusal {
  const held = z.object({ fault: z.unknown() }).safeParse(value);
  const parsed = wireSchema.safeParse(held.success ? held.data.fault : value);
  if (!parsed.success) return new Refusal('INTERNAL', 'The engine answered with something that is not an answer.');
  const { code, message, data } = parsed.data;
  return new Refusal(isFaultCode(code) ? code : 'INTERNAL', message, data ?? {});
}

/** Any thrown value as a refusal, so that every screen has one shape to show. */
export function refusalOf(error: unknown): Refusal {
  return error instanceof Refusal ? error : new Refusal('INTERNAL', 'Something in the desk itself went wrong.');
}

function isFaultCode(code: string): code is FaultCode {
  return Object.hasOwn(faultKindByCode, code);
}
