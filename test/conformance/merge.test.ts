import { expect, test } from 'vitest';
import type { MergeEnvelope } from '../../src-main/canonical/signature.ts';
import { changesetId, projectId } from '../support/history-builder.ts';
import { authorize, mergeEnvelope, testProposal, testReviewer } from '../support/merge-envelope.ts';
import { branch, commitBody, type Door, openDoor, type Seen, startDemo, unknownId } from './door.ts';

const needs = 'protected ref and signed merge authorization required';
const wrong = 'invalid merge authorization';

interface Attempt {
  readonly next: string;
  readonly envelope?: Partial<MergeEnvelope>;
  readonly body?: Record<string, unknown>;
  readonly key?: Uint8Array;
}

async function stage(): Promise<{
  readonly door: Door;
  readonly root: string;
  readonly head: string;
  attempt(attempt: Attempt): Promise<Seen>;
}> {
  const door = await openDoor();
  const root = await startDemo(door);
  const { value } = await door.post('/memory/changesets', commitBody(branch, root));
  const attempt = ({ next, envelope, body, key }: Attempt): Promise<Seen> => {
    const move = { project: projectId('demo'), expected: changesetId(root), next: changesetId(next) };
    const signed = mergeEnvelope(door.temp, move, envelope);
    return door.post('/memory/demo/refs/merge', {
      ...{ ref_name: 'refs/shared/main', expected_head: root, new_head: next, merge_proposal_id: testProposal },
      ...{ reviewer_principal: testReviewer, merge_authorization: authorize(signed, key), ...body },
    });
  };
  return { door, root, head: value.changeset_id, attempt };
}

test('T77 what is no protected ref, or lacks reviewer, proposal or authorization, has one refusal', async () => {
  const { door, head, attempt } = await stage();
  for (const body of [
    { ref_name: branch },
    { ref_name: '' },
    { ref_name: 'refs/shared/none' },
    { merge_proposal_id: '' },
    { reviewer_principal: null },
    { merge_authorization: '' },
  ])
    expect([body, await attempt({ next: head, body }).then(({ status, value }) => [status, value])]).toEqual([
      body,
      [400, { error: needs }],
    ]);
  const object = await attempt({ next: head, body: { merge_authorization: { envelope: {} } } });
  expect([object.status, object.value]).toEqual([400, { error: 'invalid request body' }]);
  const away = await door.post('/memory/none/refs/merge', {
    ...{ ref_name: 'refs/shared/main', merge_proposal_id: 'p', reviewer_principal: 'r', merge_authorization: '{}' },
  });
  expect([away.status, away.value]).toEqual([400, { error: needs }]);
});

test('T77 every failure of the authorization has one text: 403 for key and signature, 400 for the rest', async () => {
  const { door, root, head, attempt } = await stage();
  const later = new Date(door.temp.clock.nowMs() + 3_600_000).toISOString();
  const expired = new Date(door.temp.clock.nowMs() - 61_000).toISOString();
  const attempts: readonly (readonly [Attempt, number])[] = [
    [{ next: head, body: { merge_authorization: 'not JSON' } }, 400],
    [{ next: head, body: { merge_authorization: '{}' } }, 400],
    [{ next: head, envelope: { version: 'memory-git-merge/v1' } }, 400],
    [{ next: head, envelope: { key_id: 'unknown' } }, 403],
    [{ next: head, key: Buffer.alloc(32, 7) }, 403],
    [
      {
        next: head,
        body: {
          merge_authorization: JSON.stringify({
            envelope: { version: 'memory-git-merge/v2', key_id: 'k1' },
            signature: 'xyz',
          }),
        },
      },
      400,
    ],
    [{ next: head, envelope: { project_id: 'other' } }, 400],
    [{ next: head, envelope: { new_head: root } }, 400],
    [{ next: head, body: { expected_head: unknownId } }, 400],
    [{ next: head, body: { reviewer_principal: 'someone else' } }, 400],
    [{ next: head, body: { merge_proposal_id: 'another' } }, 400],
    [{ next: head, envelope: { merger_principal: '' } }, 400],
    [{ next: head, envelope: { strategy: 'force' } }, 400],
    [{ next: head, envelope: { nonce: 'short' } }, 400],
    [{ next: head, envelope: { proposal_digest: 'AB' } }, 400],
    [{ next: head, envelope: { issued_at: 'today' } }, 400],
    [{ next: head, envelope: { issued_at: later, expires_at: later } }, 400],
    [{ next: head, envelope: { expires_at: later } }, 400],
    [
      {
        next: head,
        envelope: { issued_at: new Date(door.temp.clock.nowMs() - 120_000).toISOString(), expires_at: expired },
      },
      400,
    ],
  ];
  for (const [one, status] of attempts) {
    const answer = await attempt(one);
    expect([one, answer.status, answer.value]).toEqual([one, status, { error: wrong }]);
  }
  expect((await door.get('/memory/demo/refs/resolve?name=refs/shared/main')).value.head_changeset_id).toBe(root);
  expect((await door.get('/memory/demo/advances')).value.advances).toEqual([]);
});

test('T77 T83 a merge moves main once; its nonce is spent, also by an attempt that was refused for its shape, and replays are counted', async () => {
  const { door, root, head, attempt } = await stage();
  const unknown = await attempt({ next: unknownId, envelope: { nonce: '1'.repeat(32) } });
  expect([unknown.status, unknown.value]).toEqual([404, { error: 'load new head: changeset not found' }]);
  const burnt = await attempt({ next: head, envelope: { nonce: '1'.repeat(32) } });
  expect([burnt.status, burnt.value]).toEqual([
    409,
    { error: `merge authorization nonce already consumed: ${'1'.repeat(32)}` },
  ]);
  const shape = await attempt({ next: head, envelope: { strategy: 'merge_commit' } });
  expect(shape.status).toBe(409);
  const still = await attempt({ next: root });
  expect(still.status).toBe(409);
  const own = await attempt({ next: head, envelope: { merger_principal: 'alice' } });
  expect([own.status, own.value.error]).toEqual([409, expect.any(String)]);
  const judged = await attempt({
    next: head,
    envelope: { reviewer_principal: 'alice' },
    body: { reviewer_principal: 'alice' },
  });
  expect(judged.status).toBe(409);

  const nonce = '2'.repeat(32);
  const answers = await Promise.all(Array.from({ length: 12 }, () => attempt({ next: head, envelope: { nonce } })));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 11 }, () => 409)]);
  const moved = answers.find(({ status }) => status === 200);
  expect(moved?.value).toMatchObject({ ref_name: 'refs/shared/main', head_changeset_id: head, protected: true });
  const stale = await attempt({ next: head });
  expect([stale.status, stale.value]).toEqual([
    409,
    { error: `ref compare-and-swap conflict: expected ${root}, current ${head}` },
  ]);
  const { advances } = (await door.get('/memory/demo/advances')).value;
  expect(advances).toEqual([
    expect.objectContaining({ authorization_nonce: nonce, new_head: head, strategy: 'fast_forward' }),
  ]);
  expect((await door.get('/memory/demo/verify')).value).toMatchObject({ ok: true, findings: [] });
  expect((await door.get('/metrics')).body).toMatch(/\nlethe_merge_replay_rejections_total 12\n/);
});
