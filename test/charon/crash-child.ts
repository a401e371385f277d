import { join } from 'node:path';
import { systemClock } from '../../src-main/base/clock.ts';
import { systemIds } from '../../src-main/base/ids.ts';
import { silentLog } from '../../src-main/base/log.ts';
import { openCharon } from '../../src-main/charon/charon.ts';
import { principalIdSchema, projectIdSchema } from '../../src-preload/contract/ids.ts';
import { noStore, subject, testKeys } from './charon-world.ts';

/**
 * A process to be killed: opens the home in its first argument, settles what the one before left, and then writes for ever,
 * four hands at once. It prints a line for whatever was acknowledged: `intent <id>`, `replay <key>`.
 */
const folder = process.argv[2] ?? '';
const charon = await openCharon({
  path: join(folder, 'charon.db'),
  anchorPath: join(folder, 'ledger.anchor'),
  readOnly: false,
  clock: systemClock,
  ids: systemIds(),
  keys: testKeys,
  store: noStore,
  onEvents: () => undefined,
  log: silentLog,
});
await charon.settle();
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const run = `${process.pid}`;
const principalId = principalIdSchema.parse(charon.owner().principal_id);
const projectId = projectIdSchema.parse('demo');
say('ready');

async function work(hand: number): Promise<never> {
  for (let count = 0; ; count += 1) {
    const about = subject(`${run}-${hand}-${count}`, { command: 'obol.mint' });
    await charon.audit.intent(about);
    say(`intent ${about.correlationId}`);
    const key = { principalId, command: 'memory.repo_init', projectId, key: about.correlationId };
    await charon.rememberReplay(key, 'd'.repeat(64), [about.correlationId]);
    say(`replay ${about.correlationId}`);
    charon.audit.outcome(about, 'done');
  }
}
await Promise.all([0, 1, 2, 3].map(work));
