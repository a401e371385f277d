import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createVerifier, headMoveBytes } from '../../src-main/canonical/signature.ts';
import { findMoveAt, type RefMoveRow } from '../../src-main/lethe/tables/ref-moves.ts';
import {
  add,
  changesetId,
  fakeEpochMs,
  type HistoryBuilder,
  historyBuilder,
  openTempLethe,
  refName,
  seededSigner,
  type TempLethe,
  testAuthor,
} from '../support/history-builder.ts';

let temp: TempLethe;
let history: HistoryBuilder;
beforeEach(async () => {
  temp = openTempLethe();
  history = historyBuilder(temp);
  await history.init();
});
afterEach(() => temp.remove());

const branch = 'refs/agents/a/main';

function moves(): RefMoveRow[] {
  return temp.db.query<[], RefMoveRow>('SELECT * FROM memory_ref_moves ORDER BY seq').all();
}

describe('creating a ref', () => {
  test('L7 stands at an existing changeset of its project', async () => {
    const root = history.head('refs/shared/main');
    const ref = await history.branch(branch);
    expect(ref).toEqual({
      project_id: 'demo',
      ref_name: branch,
      head_changeset_id: root,
      protected: false,
      created_at: '2026-11-30T12:00:00Z',
      updated_at: '2026-11-30T12:00:00Z',
      created_by_principal: testAuthor,
    });
    expect(temp.lethe.findRef(history.project, refName(branch))).toEqual(ref);
  });

  test('L7 an unknown changeset and one of another project are both refused', async () => {
    const other = historyBuilder(temp, 'other');
    const foreign = await other.init();
    for (const head of [foreign.changeset_id, changesetId('00000000-0000-7000-8000-00000000dead')]) {
      await expect(
        temp.lethe.createRef({
          projectId: history.project,
          refName: refName(branch),
          headChangesetId: head,
          principal: 'p',
        }),
      ).rejects.toMatchObject({
        code: 'CHANGESET_NOT_FOUND',
        data: { field: 'head_changeset_id', changeset_id: head },
      });
    }
    expect(temp.lethe.findRef(history.project, refName(branch))).toBeUndefined();
  });

  test('L7 a name that is no ref name is refused', async () => {
    for (const name of ['refs/agents', 'refs/agents/../x', 'heads/a/b', 'refs/agents/a b', ' refs/agents/a']) {
      const bad = JSON.parse(JSON.stringify(name));
      await expect(
        temp.lethe.createRef({
          projectId: history.project,
          refName: bad,
          headChangesetId: history.head('refs/shared/main'),
          principal: 'p',
        }),
      ).rejects.toMatchObject({ code: 'REF_NAME_INVALID' });
    }
  });

  test('L8 a taken name is refused with its head', async () => {
    await history.branch(branch);
    const { changeset_id: head } = await history.commit(branch, [add('one')]);
    await expect(history.branch(branch)).rejects.toMatchObject({ code: 'REF_EXISTS', data: { ref: branch, head } });
  });

  test('L9 a protected name is refused', async () => {
    for (const name of ['refs/shared/main', 'refs/shared/team/notes']) {
      await expect(history.branch(name)).rejects.toMatchObject({ code: 'PROTECTED_REF', data: { ref: name } });
    }
    expect(temp.lethe.listRefs(history.project, { limit: 10 })).toHaveLength(1);
  });

  test('L3 a ref of an unknown project is refused', async () => {
    const nowhere = historyBuilder(temp, 'nowhere');
    const head = history.head('refs/shared/main');
    await expect(
      temp.lethe.createRef({
        projectId: nowhere.project,
        refName: refName(branch),
        headChangesetId: head,
        principal: 'p',
      }),
    ).rejects.toMatchObject({
      code: 'PROJECT_NOT_FOUND',
    });
  });

  test('L21 two hundred creations at the same moment all succeed', async () => {
    const refs = await Promise.all(Array.from({ length: 200 }, (_, n) => history.branch(`refs/sessions/a/${n}`)));
    expect(new Set(refs.map((ref) => ref.ref_name)).size).toBe(200);
    const listed = [];
    for (
      let page = temp.lethe.listRefs(history.project, { limit: 90 });
      page.length > 0;
      page = temp.lethe.listRefs(history.project, { limit: 90, after: page.at(-1)?.ref_name })
    ) {
      listed.push(...page.map((ref) => ref.ref_name));
    }
    expect(listed).toEqual([...refs.map((ref) => ref.ref_name), 'refs/shared/main'].sort());
  });
});

describe('signed moves', () => {
  test('L10 every creation and move has a signed row that verifies under the recorded key', async () => {
    await history.branch(branch);
    temp.clock.advance(1_500);
    const commit = await history.commit(branch, [add('one')]);
    const [init, create, move] = moves();
    expect(init).toMatchObject({ seq: 1, ref_name: 'refs/shared/main', from_head: '', cause: 'init' });
    expect(create).toMatchObject({ seq: 2, ref_name: branch, from_head: '', cause: 'create', principal: testAuthor });
    expect(move).toMatchObject({
      seq: 3,
      from_head: create?.to_head,
      to_head: commit.changeset_id,
      moved_at: '2026-11-30T12:00:01.5Z',
      cause: 'commit',
      chain_digest: commit.chain_digest,
    });
    const keys = temp.db.query<[], { first_seq: number; public_key: string }>('SELECT * FROM memory_head_keys').all();
    expect(keys).toEqual([{ first_seq: 1, public_key: seededSigner('head').publicKey }]);
    const verify = createVerifier(keys[0]?.public_key ?? '');
    for (const row of moves()) {
      expect(verify?.(headMoveBytes(row), row.signature)).toBe(true);
      expect(verify?.(headMoveBytes({ ...row, to_head: `${row.to_head.slice(0, -1)}0` }), row.signature)).toBe(false);
    }
  });

  test('L10 a new key is recorded with the first move that it signs', async () => {
    await history.branch(branch);
    temp = temp.reopen({ headSigner: seededSigner('another') });
    history = historyBuilder(temp);
    await history.commit(branch, [add('one')]);
    await history.commit(branch, [add('two')]);
    expect(temp.db.query('SELECT * FROM memory_head_keys ORDER BY first_seq').all()).toEqual([
      { first_seq: 1, public_key: seededSigner('head').publicKey },
      { first_seq: 3, public_key: seededSigner('another').publicKey },
    ]);
    expect((await temp.lethe.verifyChain(history.project)).findings).toEqual([]);
  });

  test('L11 a ref stands where its newest move by then took it, also when the clock goes back', async () => {
    const [root] = [history.head('refs/shared/main')];
    await history.branch(branch);
    const heads: Record<string, string> = { root };
    for (const [name, minutes] of [
      ['one', 10],
      ['ahead', 60_000],
      ['back', 20],
      ['on', 30],
      ['back again', 25],
    ] as const) {
      temp.clock.set(fakeEpochMs + minutes * 60_000);
      heads[name] = (await history.commit(branch, [add(name)])).changeset_id;
    }
    const at = (minutes: number): string | undefined => {
      const move = findMoveAt(temp.db, history.project, branch, fakeEpochMs + minutes * 60_000);
      return Object.entries(heads).find(([, id]) => id === move?.to_head)?.[0];
    };
    const stood = [-1, 0, 9, 10, 19, 20, 24, 25, 29, 30, 59_999, 60_000].map(at);
    expect(stood).toEqual([
      undefined,
      'root',
      'root',
      'one',
      'one',
      'back',
      'back',
      'back again',
      'back again',
      'back again',
      'back again',
      'back again',
    ]);
    expect(temp.db.query('SELECT epoch FROM memory_ref_moves WHERE ref_name = ? ORDER BY seq').all(branch)).toEqual(
      [0, 0, 0, 1, 1, 2].map((epoch) => ({ epoch })),
    );
    expect((await temp.lethe.verifyChain(history.project)).findings).toEqual([]);
  });

  test('L11 a moment is found by seeking, not by walking the moves', () => {
    const plan = temp.db.explain(
      "SELECT * FROM memory_ref_moves WHERE project_id = 'p' AND ref_name = 'r' AND epoch = 0 AND moved_ms <= 5 ORDER BY moved_ms DESC, seq DESC LIMIT 1",
    );
    expect(plan).toEqual([
      expect.stringContaining(
        'SEARCH memory_ref_moves USING INDEX memory_ref_moves_by_time (project_id=? AND ref_name=? AND epoch=? AND moved_ms<?)',
      ),
    ]);
  });
});
