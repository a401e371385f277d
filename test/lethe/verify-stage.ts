import { expect } from 'vitest';
import {
  add,
  addAs,
  correct,
  type HistoryBuilder,
  historyBuilder,
  memoryIdOf,
  openTempLethe,
  refName,
  reviewedMerge,
  seededSigner,
  supersede,
  type TempLethe,
} from '../support/history-builder.ts';
import { advanceInput, authorize, mergeEnvelope, testMerger, testProposal } from '../support/merge-envelope.ts';

export const branch = 'refs/agents/a/main';
export const beside = 'refs/agents/b/main';
const ended = 'refs/agents/c/main';
export const main = 'refs/shared/main';

/** A project in which every table has rows: branches, a merge, a refused one, manifests, evidence, two head keys. */
export async function everything(): Promise<{ readonly temp: TempLethe; readonly history: HistoryBuilder }> {
  let temp = openTempLethe();
  let history = historyBuilder(temp);
  await history.init();
  await history.branch(branch);
  await history.branch(beside);
  await history.branch(ended);
  const end = { projectId: history.project, refName: refName(ended), principal: testMerger };
  await temp.lethe.archiveRef({ ...end, expectedHead: history.head(ended) });
  temp.clock.advance(1_000);
  const made = await history.commit(
    branch,
    [add('cats purr', { kind: 'fact', tags: ['pets'] }), addAs('plan', 'feed them')],
    {
      personaId: 'p',
      actorId: 'a',
      surface: 's',
      model: 'm',
      environment: 'e',
      sessionId: 'x',
      topicId: 't',
      evidence: [{ source: 'one' }, { source: 'two' }],
      verification: [{ by: 'someone' }],
    },
  );
  const pinned = await temp.lethe.pinContext({
    projectId: history.project,
    refName: refName(branch),
    limit: 1,
    query: 'cats',
    kinds: ['fact', 'task'],
    tags: ['pets'],
    actorId: 'a',
    sessionId: 'x',
  });
  await temp.lethe.pinContext({ projectId: history.project, refName: refName(branch), limit: 1, actorId: 'a' });
  await history.commit(
    branch,
    [correct(memoryIdOf(made), { content: 'cats purr loudly' }, 'cats'), supersede('plan')],
    { contextManifestId: pinned.manifest_id },
  );
  await advance(temp, history, history.head(branch), 'fast_forward');
  await history.commit(beside, [add('dogs bark')]);
  temp = temp.reopen({ headSigner: seededSigner('second') });
  history = historyBuilder(temp, 'demo', 'principal_00000000000000a3');
  const merge = await history.detached(
    [history.head(main), history.head(beside)],
    [reviewedMerge(testProposal, history.head(beside))],
    { authorPrincipal: testMerger },
  );
  await expect(
    advance(temp, history, merge.changeset_id, 'fast_forward', { expires_at: '2026-11-30T11:00:00Z' }),
  ).rejects.toMatchObject({ code: 'MERGE_AUTHORIZATION_MALFORMED' });
  await advance(temp, history, merge.changeset_id, 'merge_commit');
  await history.detached([merge.changeset_id], [add('loose')]);
  await historyBuilder(temp, 'other').init();
  while (await temp.lethe.maintain());
  return { temp, history };
}

function advance(
  temp: TempLethe,
  history: HistoryBuilder,
  next: ReturnType<HistoryBuilder['head']>,
  strategy: string,
  more: Record<string, string> = {},
): Promise<unknown> {
  const move = { project: history.project, expected: history.head(main), next };
  return temp.lethe.advance(advanceInput(move, authorize(mergeEnvelope(temp, move, { strategy, ...more }))));
}

/** Opens the way around every guard of the schema, as someone with the file and an editor has it. */
export function disarm(temp: TempLethe): void {
  const triggers = temp.db.query<[], { name: string }>("SELECT name FROM sqlite_schema WHERE type = 'trigger'").all();
  for (const { name } of triggers) temp.db.exec(`DROP TRIGGER ${name}`);
  temp.db.pragma('foreign_keys = OFF');
  temp.db.pragma('ignore_check_constraints = ON');
}

/** Another value of the same type: a text with one character changed, a number one greater. */
export function altered(value: unknown): string | number {
  if (typeof value === 'number') return value + 1;
  if (typeof value !== 'string' || value === '') return 'x';
  const at = Math.floor(value.length / 2);
  const swapped = value[at] === '1' ? '2' : '1';
  return value.slice(0, at) + swapped + value.slice(at + 1);
}
