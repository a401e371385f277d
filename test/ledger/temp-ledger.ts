import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../../src-main/base/log.ts';
import type { Ledger, PutInput } from '../../src-main/ledger/api.ts';
import { openLedger } from '../../src-main/ledger/ledger.ts';
import { ledgerMigrations } from '../../src-main/ledger/migrations/migrations.ts';
import type { Lethe } from '../../src-main/lethe/api.ts';
import { letheFileOver } from '../../src-main/lethe/lethe.ts';
import { letheMigrations } from '../../src-main/lethe/migrations/migrations.ts';
import type { Connection } from '../../src-main/sqlite/driver.ts';
import { openStore } from '../../src-main/sqlite/open.ts';
import type { JsonValue } from '../../src-preload/contract/json.ts';
import {
  type LedgerAgentId,
  type LedgerKey,
  ledgerAgentIdSchema,
  ledgerKeySchema,
} from '../../src-preload/contract/ledger.ts';
import { type FakeClock, fakeClock, seededIds, seededSigner, testMergeKey } from '../support/history-builder.ts';

export const agent = ledgerAgentIdSchema.parse('11111111-1111-4111-8111-111111111111');
export const other = ledgerAgentIdSchema.parse('22222222-2222-4222-8222-222222222222');
export const key = (text: string): LedgerKey => ledgerKeySchema.parse(text);

/** A ledger in a store of its own, with what a test needs to steer it and to look behind it. */
export interface TempLedger {
  readonly ledger: Ledger;
  /** The store of changesets in the same file. */
  readonly lethe: Lethe;
  /** The store's own connection: for counters, for looking, and for breaking things on purpose. */
  readonly db: Connection;
  readonly path: string;
  readonly clock: FakeClock;
  /** Puts a value under a key of an agent. */
  put(name: string, value: JsonValue, more?: Partial<PutInput>): ReturnType<Ledger['put']>;
  remove(name: string, of?: LedgerAgentId): ReturnType<Ledger['delete']>;
  /** Maintenance until it has nothing more to do. */
  maintain(): Promise<void>;
  /** Closes the file. */
  close(): void;
  /** Closes the file and opens it again. */
  reopen(): TempLedger;
  discard(): void;
}

/** Opens a new, empty ledger in a temp folder. Call `discard` when done. */
export function openTempLedger(): TempLedger {
  return openAt(mkdtempSync(join(tmpdir(), 'memory-git-ledger-')), fakeClock());
}

function openAt(folder: string, clock: FakeClock): TempLedger {
  const path = join(folder, 'lethe.db');
  const db = openStore(path, [...letheMigrations, ...ledgerMigrations], clock);
  const ids = seededIds('ledger');
  const { lethe, file } = letheFileOver(db, {
    path,
    readOnly: false,
    clock,
    ids,
    headSigner: seededSigner('head'),
    mergeKeys: new Map([['k1', testMergeKey]]),
    furtherMigrations: ledgerMigrations,
    onEvents: () => {},
    log: silentLog,
  });
  const ledger = openLedger({ file, clock, ids, log: silentLog });
  return {
    ledger,
    lethe,
    db,
    path,
    clock,
    put: (name, value, more = {}) => ledger.put({ agentId: agent, key: key(name), value, ...more }),
    remove: (name, of = agent) => ledger.delete({ agentId: of, key: key(name) }),
    maintain: async () => {
      while (await ledger.maintain());
    },
    close: () => lethe.close(),
    reopen: () => {
      lethe.close();
      return openAt(folder, clock);
    },
    discard: () => {
      lethe.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
