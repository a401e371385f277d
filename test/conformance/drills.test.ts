import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { startProgram } from '../support/spawn-charon.ts';
import { tempFolder } from '../support/temp-home.ts';
import { client, commitBody, type Json, startDemo } from './door.ts';

/** `lethe serve` in a process of its own. */
async function serve() {
  const home = join(tempFolder(), 'home');
  const program = startProgram('lethe', ['serve', '--home', home, '--http', '127.0.0.1:0', '--json'], { env: {} });
  onTestFinished(async () => void (await program.stop('SIGTERM')));
  const { lethe } = z.object({ lethe: z.string() }).parse(JSON.parse(await program.until(/\n/)));
  return client(Number(new URL(lethe).port));
}

const ended = (refs: Json): readonly string[] => refs.map(({ ref_name: name }: { ref_name: string }) => name);

test('L294 two hundred branches at once and fifty committers at once all land over HTTP, and everything verifies', async () => {
  const door = await serve();
  const root = await startDemo(door);
  const names = Array.from({ length: 200 }, (_, n) => `refs/sessions/s/${String(n).padStart(3, '0')}`);
  const made = await Promise.all(
    names.map((name) => door.post('/memory/demo/branches', { ref_name: name, head_changeset_id: root })),
  );
  expect(made.map(({ status }) => status)).toEqual(names.map(() => 201));
  const listed = ended((await door.get('/memory/demo/refs')).value);
  expect(listed.filter((name) => name.startsWith('refs/sessions/'))).toEqual(names);

  const writers = names.slice(0, 50);
  const write = async (ref: string): Promise<readonly string[]> => {
    const heads = [root];
    for (let n = 0; n < 4; n += 1) {
      const answer = await door.post('/memory/changesets', commitBody(ref, heads[0] ?? ''));
      expect([answer.status, answer.value.error]).toEqual([201, undefined]);
      heads.unshift(answer.value.changeset_id);
    }
    return heads;
  };
  const lines = await Promise.all(writers.map(write));
  expect(new Set(lines.flat()).size).toBe(50 * 4 + 1);
  const logs = await Promise.all(writers.map((ref) => door.get(`/memory/demo/changesets?ref=${ref}`)));
  expect(logs.map(({ value }) => value.changesets.map((one: Json) => one.changeset_id))).toEqual(lines);
  expect((await door.get('/memory/demo/verify')).value).toMatchObject({ ok: true, checked: 201, findings: [] });
}, 120_000);

test('L294 fifty committers on one branch over HTTP all land by trying again on the head that the refusal names', async () => {
  const door = await serve();
  const root = await startDemo(door);
  const ref = 'refs/topics/t/one';
  await door.post('/memory/demo/branches', { ref_name: ref, head_changeset_id: root });
  const write = async (author: string): Promise<string> => {
    for (let head = root, attempt = 0; attempt < 60; attempt += 1) {
      const answer = await door.post('/memory/changesets', commitBody(ref, head, { author_principal: author }));
      if (answer.status === 201) return answer.value.changeset_id;
      expect(answer.status).toBe(409);
      head = /current (\S+)$/.exec(answer.value.error)?.[1] ?? '';
    }
    throw new Error('a committer never landed');
  };
  const landed = await Promise.all(Array.from({ length: 50 }, (_, n) => write(`writer-${n}`)));
  const log = (await door.get(`/memory/demo/changesets?ref=${ref}&limit=100`)).value.changesets;
  expect(log.map((one: Json) => one.changeset_id).sort()).toEqual([...landed, root].sort());
  expect(log.map((one: Json) => one.parent_ids[0])).toEqual([
    ...log.slice(1).map((one: Json) => one.changeset_id),
    undefined,
  ]);
}, 120_000);

test('L294 a commit apart from the head is refused as no descendant, and the head is named', async () => {
  const door = await serve();
  const root = await startDemo(door);
  const ref = 'refs/topics/t/one';
  await door.post('/memory/demo/branches', { ref_name: ref, head_changeset_id: root });
  const head = (await door.post('/memory/changesets', commitBody(ref, root))).value.changeset_id;
  const apart = await door.post('/memory/changesets', commitBody(ref, root, { expected_head: head }));
  expect([apart.status, apart.value.error]).toEqual([
    409,
    expect.stringMatching(new RegExp(`^parent_ids: not a descendant .* Its head: ${head}$`)),
  ]);
  expect((await door.get(`/memory/demo/refs/resolve?name=${ref}`)).value.head_changeset_id).toBe(head);
});
