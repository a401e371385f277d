import type { PrincipalId } from '../../src-preload/contract/ids.ts';
import { Fault } from '../base/fault.ts';
import { agentIdOf } from '../charon/rules/agent-id.ts';
import type { CommandDeps } from './deps.ts';

/**
 * Opens custody epoch 1 of an agent that was let in, by its owner (`ledger.md` §5); does nothing for one that had an epoch
 * already. Policy store and ledger never commit together, so whatever comes after a registration makes sure of it again.
 */
export async function openFirstCustody(
  { ledger }: Pick<CommandDeps, 'ledger'>,
  principalId: PrincipalId,
  owner: string,
): Promise<void> {
  const agentId = agentIdOf(principalId);
  if (ledger.findCustody(agentId) !== undefined) return;
  try {
    await ledger.openCustody(agentId, owner);
  } catch (thrown) {
    // Another request was quicker.
    if (!(thrown instanceof Fault && thrown.code === 'CUSTODY_STATE')) throw thrown;
  }
}
