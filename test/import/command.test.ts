import { mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { newKey, startProject } from '../support/history-in-engine.ts';
import { fillHistory, makeReferenceFile } from '../support/reference-files.ts';
import { openReferenceGit, referenceHistory } from '../support/reference-stores.ts';
import { tempEngine } from '../support/temp-engine.ts';

const gitFile = (): string => makeReferenceFile(openReferenceGit, (store) => void fillHistory(referenceHistory(store)));

test('L283 what lands beside a project is proposed to its main, and merged like any proposal', async () => {
  const engine = await tempEngine();
  await startProject(engine, 'demo');
  const files = engine.charon.ownerCaller('files');
  const file = gitFile();
  const { content_digest } = await engine.run(files, 'store.inspect_import', { file });
  const done = await engine.run(files, 'store.import', { file, content_digest });
  expect(done.notes).toEqual([]);
  const kept = (await engine.entries()).filter(({ command }) => command === 'store.import').slice(-2);
  expect(kept.map(({ phase, door, outcome, object_ids: ids }) => [phase, door, outcome, ids.length])).toEqual([
    ['intent', 'files', '', 2],
    ['outcome', 'files', 'ok', 10],
  ]);
  // How the act was confirmed comes first, as of every act of power.
  expect(kept[0]?.object_ids[0]).toMatch(/off/);
  expect(JSON.stringify(kept)).not.toContain(file);
  const [proposed] = done.proposals;
  expect(proposed?.project).toBe('demo');
  const proposal_id = proposed?.proposal_id ?? '';
  const detail = await engine.run(engine.owner, 'memory.proposal_show', { proposal_id });
  expect(detail).toMatchObject({ kind: 'memory', status: 'pending', target_ref: 'refs/shared/main' });
  expect(detail.diff.memories_added).toHaveLength(3);
  await engine.run(engine.owner, 'memory.merge', { proposal_id, idempotency_key: newKey() });
  const context = await engine.run(engine.owner, 'memory.context_at', { project: 'demo' });
  expect(context.total_active).toBe(3);
  expect(await engine.run(engine.owner, 'store.verify_chain', { project: 'demo' })).toMatchObject({ ok: true });
  const again = await engine.run(files, 'store.import', { file, content_digest });
  expect(again).toMatchObject({ nothing_new: true, proposals: [] });
});

test('L284 an import is the owner’s alone, and only where nobody else uses the home', async () => {
  const engine = await tempEngine();
  const agent = await engine.agent('writer', 'write', '*');
  const file = gitFile();
  for (const name of ['store.inspect_import', 'store.import']) {
    const input = { file, ...(name === 'store.import' ? { content_digest: 'ab'.repeat(32) } : {}) };
    expect((await engine.refusal(agent, name, input)).code).toBe('OWNER_ONLY');
    expect((await engine.refusal(engine.owner, name, input)).code).toBe('HOME_LOCKED');
    const files = engine.charon.ownerCaller('files');
    expect((await engine.refusal(files, name, { ...input, file: 'reference.db' })).data).toEqual({ field: 'file' });
  }
});

test('L285 a file that is another one by now is not what was confirmed', async () => {
  const engine = await tempEngine();
  const files = engine.charon.ownerCaller('files');
  const input = { file: gitFile(), content_digest: 'ab'.repeat(32) };
  const refused = await engine.refusal(files, 'store.import', input);
  expect([refused.code, refused.message]).toEqual([
    'IMPORT_REFUSED',
    expect.stringMatching(/not the one that was confirmed/),
  ]);
  expect((await engine.run(engine.owner, 'project.list', {})).projects).toEqual([]);
});

test('L286 the copy of a file is gone when the import is over, and what a killed one left is gone with the next', async () => {
  const engine = await tempEngine();
  const files = engine.charon.ownerCaller('files');
  const home = dirname(engine.paths.letheDb);
  mkdirSync(join(home, 'import-left'));
  const file = gitFile();
  const { content_digest } = await engine.run(files, 'store.inspect_import', { file });
  await engine.run(files, 'store.import', { file, content_digest });
  expect(readdirSync(home).filter((name) => name.startsWith('import-'))).toEqual([]);
});

test('L284 a home that was opened to be recovered is left without a copy, too', async () => {
  const engine = await (await tempEngine()).reopen({ recovery: true });
  const files = engine.charon.ownerCaller('files');
  const file = gitFile();
  expect((await engine.refusal(files, 'store.inspect_import', { file })).code).toBe('READ_ONLY');
  expect((await engine.refusal(files, 'store.import', { file, content_digest: 'ab'.repeat(32) })).code).toBe(
    'READ_ONLY',
  );
});
