import { writeSync } from 'node:fs';
import { systemClock } from '../../src-main/base/clock.ts';
import { systemIds } from '../../src-main/base/ids.ts';
import { silentLog } from '../../src-main/base/log.ts';
import { openLethe } from '../../src-main/lethe/lethe.ts';
import { seededSigner, testMergeKey } from './history-builder.ts';

// A process of its own that imports a file and says on standard output, once, that it is in the middle of writing.
// Arguments: the store's database file, the file to import.

const [path = '', file = ''] = process.argv.slice(2);
const lethe = openLethe({
  path,
  readOnly: false,
  clock: systemClock,
  ids: systemIds(),
  headSigner: seededSigner('head'),
  mergeKeys: new Map([['k1', testMergeKey]]),
  onEvents: () => {},
  log: silentLog,
});
const { contentDigest } = await lethe.inspectImport({ path: file });
let isWriting = false;
let last = 0;
await lethe.importFile({
  path: file,
  contentDigest,
  principal: 'importer',
  onProgress: (done) => {
    // The reading counts up to the end; what counts from the beginning again is the writing.
    if (done < last) isWriting = true;
    last = done;
    if (isWriting && done >= 500) writeSync(1, 'writing\n');
  },
});
