import { closeSync, openSync, utimesSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { copyAside } from '../../src-main/lethe/import/copy-aside.ts';
import { openForeign } from '../../src-main/sqlite/foreign.ts';
import { makeReferenceFile } from '../support/reference-files.ts';
import { fillSessions, openReferenceSessions } from '../support/reference-stores.ts';
import { tempFolder } from '../support/temp-home.ts';

const mebibyte = 1_048_576;

test.each(['', '-wal'])('L263 a file%s that is written in place while it is copied is refused', async (suffix) => {
  const path = join(tempFolder(), 'busy.db');
  for (const name of [path, `${path}-wal`]) {
    writeFileSync(name, Buffer.alloc(3 * mebibyte));
    utimesSync(name, 1_700_000_000, 1_700_000_000);
  }
  const refused = expect(copyAside(path, tempFolder())).rejects.toMatchObject({
    code: 'IMPORT_REFUSED',
    data: { reason: expect.stringMatching(/it changed while it was copied/) },
  });
  const file = openSync(`${path}${suffix}`, 'r+');
  writeSync(file, Buffer.from('now'), 0, 3, 2 * mebibyte);
  closeSync(file);
  await refused;
});

test('L262 a copy is opened with a schema that may do nothing, cells that are checked, and no way to write', () => {
  const db = openForeign(makeReferenceFile(openReferenceSessions, (store) => fillSessions(store)));
  const pragmas = { trusted_schema: 0, cell_size_check: 1, query_only: 1, mmap_size: 0, ignore_check_constraints: 1 };
  for (const [pragma, value] of Object.entries(pragmas))
    expect(db.query<[], object>(`PRAGMA ${pragma}`).get()).toEqual({ [pragma]: value });
  db.close();
});
