import type { FaultCode } from '../../src-preload/contract/faults.ts';
import type { ConnectionState } from '../bridge/connection.ts';

/** What stands between the owner and the frame. */
type GateState = 'open' | 'signed_out' | 'refused' | 'stopped' | 'loading';

/**
 * Decides it from the connection and the last answer to `engine.status`. An engine that said why it does not start (a locked
 * home, sealed keys) is quoted, also after it has stopped; one that says nothing has stopped.
 */
export function gateState(
  connection: ConnectionState,
  status: { readonly answered: boolean; readonly refusal: FaultCode | undefined },
): GateState {
  if (connection === 'signed_out') return 'signed_out';
  if (status.answered) return 'open';
  if (status.refusal !== undefined && status.refusal !== 'CLOSED') return 'refused';
  return connection === 'stopped' || status.refusal === 'CLOSED' ? 'stopped' : 'loading';
}
