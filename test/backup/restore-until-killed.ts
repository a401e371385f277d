import { toolsOf } from '../../src-main/backup/open-home.ts';
import { restoreBackup } from '../../src-main/backup/restore.ts';
import { systemClock } from '../../src-main/base/clock.ts';
import { systemIds } from '../../src-main/base/ids.ts';
import { silentLog } from '../../src-main/base/log.ts';
import { openHome } from '../../src-main/home/open.ts';

// A process of its own that restores a backup and dies by SIGKILL before the step that is named. Arguments: home, backup, step.

const [root = '', directory = '', step = ''] = process.argv.slice(2);
const common = { env: {}, clock: systemClock, ids: systemIds(), log: silentLog, version: '0.0.0' };
const home = await openHome({ root, ...common });
await restoreBackup(toolsOf(home, common), {
  directory,
  hook: (next) => {
    if (next === step) process.kill(process.pid, 'SIGKILL');
  },
});
