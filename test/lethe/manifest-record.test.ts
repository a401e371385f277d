import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ManifestInput, OutputManifestInput } from '../../src-main/lethe/manifest-record.ts';
import type { ChangesetId } from '../../src-preload/contract/ids.ts';
import { manifestSchema } from '../../src-preload/contract/memory.ts';
import {
  addAs,
  changesetId,
  type HistoryBuilder,
  historyBuilder,
  openTempLethe,
  projectId,
  type TempLethe,
} from '../support/history-builder.ts';

const work = 'refs/topics/work';
const main = 'refs/shared/main';
const conflict = 'a'.repeat(64);
const proposal = '00000000-0000-7000-8000-0000000000aa';
const unknown = changesetId('00000000-0000-7000-8000-00000000dead');
let temp: TempLethe;
let history: HistoryBuilder;
let base: ChangesetId;
let head: ChangesetId;

beforeEach(async () => {
  temp = openTempLethe();
  history = historyBuilder(temp);
  base = (await history.init()).changeset_id;
  await history.branch(work);
  head = (await history.commit(work, [addAs('m', 'made')])).changeset_id;
});
afterEach(() => temp.remove());

function output(more: Partial<OutputManifestInput> = {}): OutputManifestInput {
  return {
    projectId: history.project,
    headChangesetId: head,
    baseChangesetId: base,
    resultingChangesetId: head,
    proposedTargetRef: main,
    mergeProposalId: proposal,
    unresolvedConflicts: [conflict],
    actorId: 'a',
    ...more,
  };
}

function client(more: Partial<ManifestInput> = {}): ManifestInput {
  return { projectId: history.project, direction: 'input', refName: work, headChangesetId: head, ...more };
}

function countManifests(): number {
  return temp.db.query<[], { count: number }>('SELECT count(*) AS count FROM memory_manifests').get()?.count ?? 0;
}

describe('what a proposal brings', () => {
  test('L220 is recorded with where it starts, what it made, where it goes and what stands against it', async () => {
    const made = await temp.lethe.recordOutputManifest(output({ selectedMemoryIds: ['m'] }));
    expect(manifestSchema.parse(made)).toEqual({
      manifest_id: made.manifest_id,
      direction: 'output',
      project_id: 'demo',
      ref_name: work,
      head_changeset_id: head,
      base_changeset_id: base,
      resulting_changeset_id: head,
      proposed_target_ref: main,
      merge_proposal_id: proposal,
      selected_memory_ids: ['m'],
      unresolved_conflicts: [conflict],
      actor_id: 'a',
      created_at: made.created_at,
    });
    expect(temp.lethe.getManifest(made.manifest_id)).toEqual(made);
    temp = temp.reopen();
    expect(temp.lethe.getManifest(made.manifest_id)).toEqual(made);
  });

  test('L220 the same again is the same manifest, anything else a new one', async () => {
    const ids = new Set<string>();
    const record = async (more: Partial<OutputManifestInput> = {}): Promise<void> => {
      temp.clock.advance(1_000);
      ids.add((await temp.lethe.recordOutputManifest(output(more))).manifest_id);
    };
    await record();
    await record();
    expect(ids.size).toBe(1);
    await record({ unresolvedConflicts: [] });
    await record({ mergeProposalId: proposal.replace('aa', 'ab') });
    await record({ headChangesetId: base });
    expect(ids.size).toBe(4);
    expect(countManifests()).toBe(4);
  });

  test('L220 pins no context, and says so', async () => {
    const { manifest_id: id } = await temp.lethe.recordOutputManifest(output());
    expect(() => temp.lethe.manifestContext(history.project, id)).toThrow(
      expect.objectContaining({ code: 'STATE_NOT_FOUND' }),
    );
  });
});

describe('what a client records', () => {
  test('L221 is kept as it is given, under its id and time when it gives them', async () => {
    const id = '01900000-0000-7000-8000-000000000001';
    const made = await temp.lethe.recordManifest(
      client({
        manifestId: id,
        createdAt: '2026-01-02T03:04:05.678912345Z',
        selectedMemoryIds: ['m', 'not one of ours'],
        inclusionReasons: { m: 'asked for' },
        exclusionReasons: { n: 'too old' },
        sessionId: 's',
      }),
    );
    expect(manifestSchema.parse(made)).toEqual({
      manifest_id: id,
      direction: 'input',
      project_id: 'demo',
      ref_name: work,
      head_changeset_id: head,
      selected_memory_ids: ['m', 'not one of ours'],
      inclusion_reasons: { m: 'asked for' },
      exclusion_reasons: { n: 'too old' },
      session_id: 's',
      created_at: '2026-01-02T03:04:05.678912345Z',
    });
    const own = await temp.lethe.recordManifest(client());
    expect(own.manifest_id).not.toBe(id);
    const commit = await history.commit(work, [addAs('n', 'next')], { contextManifestId: id });
    expect(commit.context_manifest_id).toBe(id);
  });

  test.each<[string, Partial<ManifestInput>, string, unknown]>([
    ['an unknown project', { projectId: projectId('none') }, 'PROJECT_NOT_FOUND', undefined],
    ['an unknown head', { headChangesetId: unknown }, 'CHANGESET_NOT_FOUND', undefined],
    ['an unknown base', { baseChangesetId: unknown }, 'CHANGESET_NOT_FOUND', undefined],
    ['an unknown result', { resultingChangesetId: unknown }, 'CHANGESET_NOT_FOUND', undefined],
    ['no ref', { refName: '' }, 'INPUT_INVALID', 'ref_name'],
    ['a long ref', { refName: 'r'.repeat(513) }, 'INPUT_INVALID', 'ref_name'],
    ['a long target', { proposedTargetRef: 'é'.repeat(257) }, 'INPUT_INVALID', 'proposed_target_ref'],
    ['a long proposal', { mergeProposalId: 'p'.repeat(1_025) }, 'INPUT_INVALID', 'merge_proposal_id'],
    ['an empty memory id', { selectedMemoryIds: [''] }, 'INPUT_INVALID', 'selected_memory_ids'],
    ['a long memory id', { selectedMemoryIds: ['m'.repeat(1_025)] }, 'INPUT_INVALID', 'selected_memory_ids'],
    [
      'many memories',
      { selectedMemoryIds: Array.from({ length: 10_001 }, () => 'm') },
      'INPUT_INVALID',
      'selected_memory_ids',
    ],
    ['a long reason', { inclusionReasons: { m: 'x'.repeat(4_097) } }, 'INPUT_INVALID', 'inclusion_reasons'],
    ['a conflict that is none', { unresolvedConflicts: ['c1'] }, 'INPUT_INVALID', 'unresolved_conflicts'],
    ['an id that is none', { manifestId: 'm1' }, 'INPUT_INVALID', 'manifest_id'],
    ['a time that is none', { createdAt: 'yesterday' }, 'INPUT_INVALID', 'created_at'],
    ['a long session', { sessionId: 's'.repeat(1_025) }, 'INPUT_INVALID', 'session_id'],
  ])('L221 %s is refused by name, and nothing is written', async (_, more, code, field) => {
    await expect(temp.lethe.recordManifest(client(more))).rejects.toMatchObject(
      field === undefined ? { code } : { code, data: { field } },
    );
    expect(countManifests()).toBe(0);
  });

  test('L221 a head of another project is not found, and an id is taken once', async () => {
    const other = historyBuilder(temp, 'other');
    const foreign = (await other.init()).changeset_id;
    await expect(temp.lethe.recordManifest(client({ headChangesetId: foreign }))).rejects.toMatchObject({
      code: 'CHANGESET_NOT_FOUND',
    });
    const { manifest_id: id } = await temp.lethe.recordManifest(client());
    await expect(temp.lethe.recordManifest(client({ manifestId: id }))).rejects.toMatchObject({
      code: 'INPUT_INVALID',
      data: { field: 'manifest_id' },
    });
    expect(countManifests()).toBe(1);
  });
});

describe('a record', () => {
  test('L222 never changes, and an altered byte of it is found and named', async () => {
    const { manifest_id: id } = await temp.lethe.recordOutputManifest(output({ selectedMemoryIds: ['m'] }));
    const columns = temp.db
      .query<[], { name: string }>("SELECT name FROM pragma_table_info('memory_manifests')")
      .all()
      .map(({ name }) => name);
    expect(columns).toHaveLength(28);
    expect(() => temp.db.exec('UPDATE memory_manifests SET merge_proposal_id = merge_proposal_id')).toThrow();
    expect(() => temp.db.exec('DELETE FROM memory_manifests')).toThrow();
    temp.db.exec('DROP TRIGGER memory_manifests_never_update');
    for (const column of columns.filter((name) => name !== 'manifest_id' && name !== 'project_id')) {
      const read = temp.db.query<[], { value: string | number | null }>(
        `SELECT ${column} AS value FROM memory_manifests`,
      );
      const write = temp.db.command<[string | number | null]>(`UPDATE memory_manifests SET ${column} = ?`);
      const value = read.get()?.value ?? null;
      write.run(altered(column, value));
      const { ok, findings } = await temp.lethe.verifyChain(history.project);
      expect([column, ok, findings[0]?.where]).toEqual([column, false, `manifest ${id}`]);
      write.run(value);
    }
    expect(await temp.lethe.verifyChain(history.project)).toMatchObject({ ok: true, findings: [] });
  });
});

function altered(column: string, value: string | number | null): string | number {
  if (column === 'direction') return 'input';
  if (column === 'form') return 2;
  if (column === 'head_seq' || column === 'resulting_seq') return 1;
  if (column === 'base_seq') return 2;
  if (typeof value === 'number') return value + 1;
  if (column.endsWith('_digest')) return `${String(value).slice(1)}f`;
  return `${value} `;
}
