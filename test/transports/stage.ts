import { vi } from 'vitest';
import type { Clock } from '../../src-main/base/clock.ts';
import { Fault, toFault } from '../../src-main/base/fault.ts';
import type { AuditSubject, Caller } from '../../src-main/charon/api.ts';
import type { CommandCall, Commands } from '../../src-main/commands/api.ts';
import { commandTable } from '../../src-preload/contract/commands/table.ts';
import type { EngineEvent } from '../../src-preload/contract/events.ts';
import { obolIdSchema, principalIdSchema, timestampSchema } from '../../src-preload/contract/ids.ts';
import { type Principal, principalSchema, type Scope, scopes } from '../../src-preload/contract/principal.ts';

/** Waits until what is claimed holds, 10 s at most: a busy machine is slow, not wrong. */
export function eventually(claim: () => unknown): Promise<unknown> {
  return vi.waitFor(claim, { timeout: 10_000, interval: 20 });
}

/** A clock that stands still until it is moved. */
export function fakeClock(startMs = 1_800_000_000_000): Clock & { advance(ms: number): void } {
  let nowMs = startMs;
  return {
    nowMs: () => nowMs,
    advance(ms) {
      nowMs += ms;
    },
  };
}

export function principal(number: number): Principal {
  return principalSchema.parse({
    principal_id: `principal_${String(number).padStart(16, '0')}`,
    name: `agent ${number}`,
    actor_id: `agent-${number}`,
    profile: 'propose',
    enabled: true,
    grants: ['demo'],
    created_at: timestampSchema.parse('2026-11-30T10:00:00Z'),
  });
}

/** The obol-shaped token of a number: what the gate below takes. */
export function tokenOf(number: number): string {
  return `obol_${String(number).padStart(16, '0')}_${'s'.repeat(43)}`;
}

/** A small gate in memory with the door's view of it: who has which token, and what was noted. */
export function gate(): {
  admit(number: number, rights?: readonly Scope[]): string;
  revoke(number: number): void;
  readonly noted: { readonly subject: AuditSubject; readonly outcome: string }[];
  authenticate(token: string, door: Caller['door']): Caller | undefined;
  readonly audit: { note(subject: AuditSubject, outcome: string): void };
} {
  const callers = new Map<string, Omit<Caller, 'door'>>();
  const noted: { subject: AuditSubject; outcome: string }[] = [];
  return {
    admit(number, rights = scopes) {
      const obol = obolIdSchema.parse(String(number).padStart(16, '0'));
      callers.set(tokenOf(number), {
        principal: principal(number),
        scopes: rights,
        credential: { kind: 'obol', id: obol },
      });
      return tokenOf(number);
    },
    revoke(number) {
      callers.delete(tokenOf(number));
    },
    noted,
    authenticate(token, door) {
      const caller = callers.get(token);
      return caller === undefined ? undefined : { ...caller, door };
    },
    audit: {
      note(subject, outcome) {
        noted.push({ subject, outcome });
      },
    },
  };
}

/** The owner as the owner's doors present it. */
export function ownerCaller(door: Caller['door']): Caller {
  const owner = {
    ...principal(0),
    principal_id: principalIdSchema.parse('principal_00000000000000ff'),
    profile: 'owner' as const,
  };
  return { principal: owner, scopes, credential: { kind: 'owner', id: 'owner' }, door };
}

export interface Stage extends Commands {
  readonly calls: CommandCall[];
  publish(event: EngineEvent): void;
  listeners(): number;
  /** How many desks are attached. */
  desks(): number;
}

/**
 * A small command table over the contract's own rows: parses strictly, looks at scopes, and answers what `answer` says.
 * It stands where the real pipeline stands when only the door is looked at.
 */
export function stage(answer: (call: CommandCall) => unknown = (call) => ({ called: call.name })): Stage {
  const calls: CommandCall[] = [];
  let desks = 0;
  const listeners = new Set<(event: EngineEvent) => void>();
  const admits = (caller: Caller, scope: Scope | 'owner'): boolean =>
    scope === 'owner' ? caller.credential.kind === 'owner' : caller.scopes.includes(scope);
  async function run(call: CommandCall): Promise<unknown> {
    calls.push(call);
    const row = commandTable.find(({ name }) => name === call.name);
    if (row === undefined) throw new Fault('COMMAND_UNKNOWN', 'There is no such command.');
    if (!admits(call.caller, row.scope)) throw new Fault('SCOPE_MISSING', `The scope ${row.scope} is missing.`);
    const parsed = row.input.safeParse(call.input);
    if (!parsed.success)
      throw new Fault('INPUT_INVALID', parsed.error.issues[0]?.message ?? 'invalid', {
        issues: parsed.error.issues.length,
      });
    try {
      return await answer(call);
    } catch (error) {
      throw toFault(error);
    }
  }
  return {
    calls,
    run,
    call: () => Promise.reject(new Fault('COMMAND_UNKNOWN', 'The typed form is not on this stage.')),
    confirm: async ({ command, inputDigest }, passphrase, { door }) => ({
      confirmation: [command, inputDigest, passphrase, door].join(' '),
      expires_at: timestampSchema.parse('2026-11-30T10:01:00Z'),
    }),
    attachDesk: () => {
      desks += 1;
      return () => {
        desks -= 1;
      };
    },
    desks: () => desks,
    listFor: (caller) => commandTable.filter((row) => admits(caller, row.scope)),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    publish(event) {
      for (const listener of listeners) listener(event);
    },
    listeners: () => listeners.size,
  };
}
