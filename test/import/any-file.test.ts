import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Fault } from '../../src-main/base/fault.ts';
import { openTempLethe } from '../support/history-builder.ts';
import { addedMemory, fillHistory, makeReferenceFile } from '../support/reference-files.ts';
import { fillAssembly, fillSessions, openReferenceGit, referenceHistory } from '../support/reference-stores.ts';
import { tempEngine } from '../support/temp-engine.ts';
import { tempFolder } from '../support/temp-home.ts';

const soundFile = (): string =>
  makeReferenceFile(openReferenceGit, (store) => {
    fillSessions(store, 'demo');
    fillAssembly(store, 'demo');
    fillHistory(referenceHistory(store));
    store.db.pragma('wal_checkpoint(TRUNCATE)');
  });

/** What was found good is written, and what was written verifies. */
async function importSoundly(path: string, contentDigest: string): Promise<void> {
  const other = openTempLethe();
  const { projects } = await other.lethe.importFile({ path, contentDigest, principal: 'importer' });
  for (const { foreign } of projects)
    expect(await other.lethe.verifyChain(foreign.projectId)).toMatchObject({ findings: [] });
  other.remove();
}

test('L262 a file with any of its bytes altered is refused with its reason, or says what it holds', async () => {
  const temp = openTempLethe();
  const sound = readFileSync(soundFile());
  // Most of the file is empty room: what is altered is what says something.
  const said = [...sound.keys()].filter((place) => sound[place] !== 0);
  const path = join(tempFolder(), 'altered.db');
  let refused = 0;
  for (let round = 0; round < 100; round += 1) {
    const dice = createHash('sha256').update(`altered/${round}`).digest();
    const bytes = Buffer.from(sound);
    const place = said[dice.readUInt32LE(0) % said.length] ?? 0;
    bytes.fill(dice.readUInt8(4), place, Math.min(sound.length, place + (round % 4 === 0 ? 64 : 1)));
    writeFileSync(path, bytes);
    try {
      const { contentDigest } = await temp.lethe.inspectImport({ path });
      if (round % 5 === 0) await importSoundly(path, contentDigest);
    } catch (thrown) {
      if (!(thrown instanceof Fault)) throw thrown;
      expect([round, thrown.code, thrown.message]).toEqual([round, 'IMPORT_REFUSED', expect.any(String)]);
      refused += 1;
    }
  }
  expect(refused).toBeGreaterThan(10);
  temp.remove();
}, 120_000);

test('L271 what a door of today would refuse is kept, and read like anything else', async () => {
  const engine = await tempEngine();
  const files = engine.charon.ownerCaller('files');
  const file = makeReferenceFile(openReferenceGit, (store) => {
    const { root, commit, advance } = referenceHistory(store);
    const ref = ' any ref ';
    const odd = { content: 123, kind: 'nonsense', confidence: 99, tags: 'red, blue', visibility: 7, __proto__: null };
    const first = commit({
      ref,
      parents: [root],
      ops: [
        addedMemory('first', 'm'),
        addedMemory('again under one id', 'm'),
        { op_type: 'add_memory', payload: {} },
        { op_type: 'correct_memory', target_event_id: 'nobody', payload: { content: 'of nobody' } },
        { op_type: 'add_relationship', target_event_id: 'm', resulting_event_id: 'nobody', payload: { kind: 'k' } },
        { op_type: 'attach_evidence', target_event_id: 'm', payload: { note: 'n' } },
      ],
      more: { message: '' },
    });
    const second = commit({
      ref,
      parents: [first],
      ops: [{ op_type: 'correct_memory', target_event_id: 'm', payload: odd }],
    });
    advance('refs/shared/main', root, second);
  });
  const { content_digest } = await engine.run(files, 'store.inspect_import', { file });
  await engine.run(files, 'store.import', { file, content_digest });
  const context = await engine.run(engine.owner, 'memory.context_at', { project: 'demo' });
  expect(context.memories).toMatchObject([
    { memory_id: 'm', content: 'again under one id', kind: 'nonsense', confidence: 99, tags: ['red', 'blue'] },
  ]);
  const log = await engine.run(engine.owner, 'memory.log', { project: 'demo' });
  expect(log.changesets).toHaveLength(3);
  const graph = await engine.run(engine.owner, 'history.graph', { project: 'demo' });
  expect(graph.nodes.map(({ ref_name: ref }) => ref)).toEqual([' any ref ', ' any ref ', 'refs/shared/main']);
  const found = await engine.run(engine.owner, 'memory.search', { project: 'demo', query: 'again' });
  expect(found.matches).toHaveLength(1);
  expect(await engine.run(engine.owner, 'store.verify_chain', { project: 'demo' })).toMatchObject({ findings: [] });
});
