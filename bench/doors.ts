// A process of its own that serves two agent doors for W2: that of a real home with a copy of the store that is named, and
// one of the same make behind which nothing is done. Prints one line of JSON when both are open; ends with its standard input.
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { systemClock, toTimestamp } from '../src-main/base/clock.ts';
import { systemIds } from '../src-main/base/ids.ts';
import { silentLog } from '../src-main/base/log.ts';
import type { Commands } from '../src-main/commands/api.ts';
import { createEventHub } from '../src-main/commands/events.ts';
import { createMetrics } from '../src-main/commands/metrics.ts';
import { openStores } from '../src-main/commands/open-stores.ts';
import { createCommands } from '../src-main/commands/run.ts';
import { startUpkeep } from '../src-main/commands/upkeep.ts';
import { openHome } from '../src-main/home/open.ts';
import { openAgentDoor } from '../src-main/transports/agent-door.ts';
import { grantSchema } from '../src-preload/contract/principal.ts';
import { benchProject } from './lib/store.ts';

const [folder, store] = process.argv.slice(2);
if (folder === undefined || store === undefined) throw new Error('name the folder of the home, and a store');
const [clock, ids, log] = [systemClock, systemIds(), silentLog];
const home = await openHome({ root: join(folder, 'home'), env: {}, clock, ids });
copyFileSync(store, home.paths.letheDb);
const events = createEventHub(log);
const { charon, lethe, ledger, close } = await openStores({ home, clock, ids, log, onEvents: events.publish });
const commands = createCommands({
  files: lethe,
  ...{ lethe, charon, ledger, events, clock, ids, log, keyRing: home.keyRing },
  metrics: createMetrics(charon.audit.backlog, charon.audit.appendFailures),
  monotonicMs: () => performance.now(),
  recoveryReadonly: false,
  facts: () => ({ version: '0.0.0', home: folder, mcpUrl: null, startedAt: toTimestamp(clock.nowMs()) }),
});
const upkeep = startUpkeep({ lethe, ledger, charon, events, log });

const owner = charon.ownerCaller('owner_socket');
const { ref } = await commands.call('memory.repo_init', { project: benchProject }, owner);
const { principal } = await charon.reconcilePrincipal({
  name: 'bench',
  profile: 'propose',
  grant: grantSchema.parse(benchProject),
});
const { token } = await charon.mintObol({ principalId: principal.principal_id, expiresMs: null });

/** Commands that do nothing: what is left is the cost of the protocol and the door. */
const noCommands: Commands = { ...commands, run: async () => ({ done: true }) };
const common = { port: 0, charon, clock, log, version: '0.0.0', ready: async () => ({ ok: true, problems: [] }) };
// The rate that one principal may have is not what is measured here.
const limits = { perPrincipal: { perSecond: 1_000_000, burst: 1_000_000 } };
const real = await openAgentDoor({ ...common, commands, limits });
const noop = await openAgentDoor({ ...common, commands: noCommands, limits });
process.stdout.write(
  `${JSON.stringify({ real: real.mcpUrl, noop: noop.mcpUrl, token, actor: principal.actor_id, head: ref.head_changeset_id })}\n`,
);

process.stdin.resume();
process.stdin.once('end', async () => {
  await Promise.all([real.close(), noop.close()]);
  await commands.close();
  await upkeep.stop();
  await close();
  home.release();
});
