import { type PrincipalId, principalIdSchema } from '../../../src-preload/contract/ids.ts';
import { type LedgerAgentId, ledgerAgentIdSchema } from '../../../src-preload/contract/ledger.ts';
import { sha256Hex } from '../../canonical/digest.ts';

const shape = /^([0-9a-f]{8})-([0-9a-f]{4})-4([0-9a-f]{3})-8([0-9a-f])[0-9a-f]{2}-[0-9a-f]{12}$/;

/**
 * The id by which the memory ledger knows a principal: a UUIDv4 (`ledger.md` §1) that holds the principal's own 16 hex
 * characters and 56 bits of a digest of them, so that neither of the two has to be looked up.
 */
export function agentIdOf(principalId: PrincipalId): LedgerAgentId {
  const own = principalId.slice('principal_'.length);
  const check = sha256Hex(`charon/ledger-agent/v1\n${principalId}`);
  return ledgerAgentIdSchema.parse(
    `${own.slice(0, 8)}-${own.slice(8, 12)}-4${own.slice(12, 15)}-8${own.slice(15)}${check.slice(0, 2)}-${check.slice(2, 14)}`,
  );
}

/** The principal that an agent id, or `principal_…` itself, can only stand for; undefined for any other text. */
export function principalIdOf(text: string): PrincipalId | undefined {
  const principal = principalIdSchema.safeParse(text);
  if (principal.success) return principal.data;
  const parts = shape.exec(text.toLowerCase());
  if (parts === null) return undefined;
  const named = principalIdSchema.parse(`principal_${parts.slice(1, 5).join('')}`);
  return agentIdOf(named) === text.toLowerCase() ? named : undefined;
}
