import { systemClock } from '../../src-main/base/clock.ts';
import { systemIds } from '../../src-main/base/ids.ts';
import { silentLog } from '../../src-main/base/log.ts';
import { openLethe } from '../../src-main/lethe/lethe.ts';
import { add, historyBuilder, seededSigner, testMergeKey } from './history-builder.ts';
import { advanceInput, authorize, mergeEnvelope } from './merge-envelope.ts';

// A process of its own that commits, merges and maintains as fast as it can and says on standard output what became
// durable, one JSON line each, until it is killed. Arguments: the database file, a name that is new to it.

const [path = '', run = ''] = process.argv.slice(2);
const ids = systemIds();
const lethe = openLethe({
  path,
  readOnly: false,
  clock: systemClock,
  ids,
  headSigner: seededSigner('head'),
  mergeKeys: new Map([['k1', testMergeKey]]),
  onEvents: () => {},
  log: silentLog,
});
const writers = await Promise.all(
  [0, 1, 2].map(async (number) => {
    const history = historyBuilder({ lethe }, 'demo', `writer-${run}-${number}`);
    await history.init();
    const ref = `refs/sessions/writer-${run}/${number}`;
    await history.branch(ref);
    return { history, ref };
  }),
);

const say = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

async function write({ history, ref }: (typeof writers)[number]): Promise<void> {
  for (let count = 0; ; count += 1) {
    const made = await history.commit(ref, [add(`${ref} ${count}`), add('filler '.repeat(200))]);
    say({ ref, changeset: made.changeset_id });
  }
}

async function merge({ history, ref }: (typeof writers)[number]): Promise<void> {
  for (;;) {
    const move = { project: history.project, expected: history.head('refs/shared/main'), next: history.head(ref) };
    const envelope = mergeEnvelope({ clock: systemClock, ids }, move);
    const done = await lethe.advance(advanceInput(move, authorize(envelope))).catch(() => undefined);
    if (done !== undefined)
      say({ ref: 'refs/shared/main', changeset: done.ref.head_changeset_id, nonce: envelope.nonce });
    await lethe.maintain();
  }
}

const [first] = writers;
if (first === undefined) throw new Error('there are three writers');
await Promise.all([...writers.map(write), merge(first)]);
