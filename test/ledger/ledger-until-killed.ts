import { systemClock } from '../../src-main/base/clock.ts';
import { systemIds } from '../../src-main/base/ids.ts';
import { silentLog } from '../../src-main/base/log.ts';
import { openLedger } from '../../src-main/ledger/ledger.ts';
import { ledgerMigrations } from '../../src-main/ledger/migrations/migrations.ts';
import { openLetheFile } from '../../src-main/lethe/lethe.ts';
import { ledgerAgentIdSchema, ledgerKeySchema } from '../../src-preload/contract/ledger.ts';
import { seededSigner, testMergeKey } from '../support/history-builder.ts';

// A process of its own that puts, deletes and maintains as fast as it can and says on standard output what became
// durable, one JSON line each, until it is killed. Arguments: the database file, the agent.

const [path = '', agentId = ''] = process.argv.slice(2);
const { file } = openLetheFile({
  path,
  readOnly: false,
  clock: systemClock,
  ids: systemIds(),
  headSigner: seededSigner('head'),
  mergeKeys: new Map([['k1', testMergeKey]]),
  furtherMigrations: ledgerMigrations,
  onEvents: () => {},
  log: silentLog,
});
const ledger = openLedger({ file, clock: systemClock, ids: systemIds(), log: silentLog });
const agent = ledgerAgentIdSchema.parse(agentId);
const say = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

async function write(key: string): Promise<void> {
  const of = { agentId: agent, key: ledgerKeySchema.parse(key) };
  for (let count = 1; ; count += 1) {
    const value = `${key} ${process.pid} ${count} ${'filler '.repeat(100)}`;
    const { entry } = await ledger.put({ ...of, value, importance: count % 3 === 0 ? 'high' : 'normal' });
    say({ key, version: entry.version, value });
    if (count % 7 !== 0) continue;
    // The other writer of this key may have deleted it just now.
    const done = await ledger.delete(of).catch(() => undefined);
    if (done !== undefined) say({ key, version: done.version, value: null });
  }
}

async function maintain(): Promise<void> {
  for (;;) {
    await ledger.maintain();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

await Promise.all([write('one'), write('one'), write('two'), maintain()]);
