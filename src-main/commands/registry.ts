import { commandTable } from '../../src-preload/contract/commands/table.ts';
import { assert } from '../base/assert.ts';
import { auditCommands } from './audit.ts';
import { backupCommands, restoreCommands } from './backup.ts';
import type { BoundCommand } from './bind.ts';
import type { CommandDeps } from './deps.ts';
import { engineCommands } from './engine.ts';
import { importCommands } from './import.ts';
import { keyCommands } from './keys.ts';
import { ledgerCommands } from './ledger.ts';
import { ledgerAccountCommands } from './ledger-account.ts';
import { ledgerOwnerCommands } from './ledger-owner.ts';
import { memoryReadCommands } from './memory-read.ts';
import { memoryStateCommands } from './memory-state.ts';
import { memoryWriteCommands } from './memory-write.ts';
import { oauthCommands } from './oauth.ts';
import { obolCommands } from './obols.ts';
import type { OwnerRequests } from './owner-requests.ts';
import { ownerWordCommands } from './owner-word.ts';
import { principalCommands } from './principals.ts';
import { projectCommands } from './projects.ts';
import { proposalCommands } from './proposals.ts';
import { reconcileCommands } from './reconcile.ts';
import { refCommands } from './refs.ts';
import { resolutionCommands } from './resolutions.ts';
import { settingCommands } from './settings.ts';

/** Every command by its name, in the order of the table; each row has exactly one handler. */
export function createRegistry(deps: CommandDeps, requests: OwnerRequests): ReadonlyMap<string, BoundCommand> {
  const families = [
    memoryReadCommands,
    memoryStateCommands,
    memoryWriteCommands,
    proposalCommands,
    resolutionCommands,
    projectCommands,
    refCommands,
    principalCommands,
    obolCommands,
    oauthCommands,
    auditCommands,
    reconcileCommands,
    keyCommands,
    settingCommands,
    engineCommands,
    importCommands,
    backupCommands,
    restoreCommands,
    (known: CommandDeps) => ownerWordCommands(known, requests),
    ledgerCommands,
    ledgerAccountCommands,
    ledgerOwnerCommands,
  ];
  const bound = families.flatMap((family) => family(deps));
  assert(bound.length === commandTable.length, 'every row of the command table has one handler');
  return new Map(
    commandTable.map((row) => {
      const command = bound.find(({ contract }) => contract.name === row.name);
      assert(command !== undefined, `the command ${row.name} has a handler`);
      return [row.name, command];
    }),
  );
}
