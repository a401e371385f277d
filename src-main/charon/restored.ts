import { type Clock, toTimestamp } from '../base/clock.ts';
import { createBatch } from '../sqlite/batch.ts';
import type { WritableDb } from '../sqlite/driver.ts';
import { closeStore, openStore } from '../sqlite/open.ts';
import { appendRecord, systemRecord } from './audit.ts';
import { charonMigrations } from './migrations/list.ts';
import type { MacKey } from './rules/audit-entry.ts';
import { narrowedAgent } from './rules/narrowed-agent.ts';
import { auditHead, findAuditEntry } from './tables/audit-entries.ts';
import { credentialEpoch, forgetSignIns, raiseCredentialEpoch } from './tables/credential-epoch.ts';
import { applyRevoked, narrowAgent, type Revocations, readRevocations } from './tables/revocations.ts';

/**
 * Makes a restored charon.db safe to be opened (`charon.md` §7), before anybody does: every credential waits to be approved again,
 * whatever was taken away in the state that it replaces stays taken away, sign-ins that were under way are over, and the ledger
 * says what was restored, after an entry for a MAC key that it does not know. The file is brought to this version first.
 * `objects` name the backup and what was replaced.
 */
export async function prepareRestored(options: {
  readonly path: string;
  readonly clock: Clock;
  readonly macKey: MacKey;
  readonly replaced: Revocations | undefined;
  readonly objects: readonly string[];
}): Promise<void> {
  const { clock, macKey, replaced } = options;
  const connection = openStore(options.path, charonMigrations, clock);
  const batch = createBatch<never>(connection, { onCommitted: () => {}, monotonicMs: () => performance.now() });
  try {
    await batch.write((db) => {
      raiseCredentialEpoch(db, Math.max(credentialEpoch(db), replaced?.epoch ?? 0) + 1, toTimestamp(clock.nowMs()));
      forgetSignIns(db);
      if (replaced !== undefined) takeAway(db, replaced);
      if (findAuditEntry(db, auditHead(db).seq)?.mac_key_id !== macKey.id)
        appendRecord(db, systemRecord(clock, 'audit.key_started', 'started', [macKey.id]), macKey);
      appendRecord(db, systemRecord(clock, 'restore.prepared', 'done', options.objects), macKey);
    });
  } finally {
    batch.close();
    closeStore(connection);
  }
}

function takeAway(db: WritableDb, replaced: Revocations): void {
  applyRevoked(db, replaced);
  const here = new Map(readRevocations(db).agents.map((agent) => [agent.id, agent]));
  for (const there of replaced.agents) {
    const agent = here.get(there.id);
    const narrowed = agent && narrowedAgent(agent, there);
    if (narrowed !== undefined) narrowAgent(db, there.id, narrowed);
  }
}
