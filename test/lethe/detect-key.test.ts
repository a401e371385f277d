import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { conflictIdentity } from '../../src-main/canonical/conflict-digest.ts';
import { composeConflicts, openFindings } from '../../src-main/lethe/rules/detect/finding.ts';
import {
  type Conflict,
  conflictSchema,
  conflictTypeSchema,
  conflictTypes,
  severitySchema,
} from '../../src-preload/contract/conflict.ts';
import { changesetIdSchema, digestSchema, projectIdSchema } from '../../src-preload/contract/ids.ts';
import { jsonObjectSchema } from '../../src-preload/contract/json.ts';
import {
  addAs,
  attachEvidence,
  correct,
  duplicate,
  openTempLethe,
  supersede,
  type TempLethe,
} from '../support/history-builder.ts';
import { ours, partSides, theirs } from './detect-sides.ts';

const statesSchema = z.record(z.string(), jsonObjectSchema.nullable());
const vectorsSchema = z.strictObject({
  sides: z.strictObject({
    project_id: projectIdSchema,
    base_changeset_id: changesetIdSchema,
    left_changeset_id: changesetIdSchema,
    right_changeset_id: changesetIdSchema,
  }),
  conflicts: z.array(
    z.strictObject({
      conflict_type: conflictTypeSchema,
      severity: severitySchema,
      summary: z.string(),
      details: jsonObjectSchema,
      memory_ids: z.array(z.string()),
      left_states: statesSchema,
      right_states: statesSchema,
      identity: z.string(),
      conflict_id: digestSchema,
      conflict_key: digestSchema,
    }),
  ),
});
const path = new URL('../fixtures/vectors/conflicts.json', import.meta.url);
const { sides, conflicts: vectors } = vectorsSchema.parse(JSON.parse(readFileSync(path, 'utf8')));

describe('vectors of conflicts', () => {
  test('L177 there is one for each type', () => {
    expect(vectors.map(({ conflict_type }) => conflict_type).toSorted()).toEqual([...conflictTypes].toSorted());
  });

  test.each(vectors.map((vector) => [vector.conflict_type, vector] as const))(
    'L160 L173 L177 identity, id and key of %s are the ones that were computed elsewhere',
    (type, vector) => {
      const { summary, details } = vector;
      expect(conflictIdentity({ conflict_type: type, summary, details })).toBe(vector.identity);
      const findings = openFindings();
      findings.add({
        type,
        severity: vector.severity,
        summary,
        details,
        memoryIds: vector.memory_ids.toReversed(),
        left: new Map(Object.entries(vector.left_states)),
        right: new Map(Object.entries(vector.right_states)),
      });
      const composed = composeConflicts(findings.list(), {
        projectId: sides.project_id,
        baseChangesetId: sides.base_changeset_id,
        leftChangesetId: sides.left_changeset_id,
        rightChangesetId: sides.right_changeset_id,
      });
      expect(composed.map((conflict) => conflictSchema.parse(conflict))).toEqual([
        {
          ...sides,
          conflict_type: type,
          severity: vector.severity,
          summary,
          details: { ...details, memory_ids: vector.memory_ids },
          status: 'open',
          created_at: '0001-01-01T00:00:00Z',
          conflict_id: vector.conflict_id,
          conflict_key: vector.conflict_key,
        },
      ]);
    },
  );
});

describe('the key of a conflict', () => {
  let temp: TempLethe;
  beforeEach(() => {
    temp = openTempLethe();
  });
  afterEach(() => temp.remove());

  const keys = (conflicts: readonly Conflict[]): readonly string[] => conflicts.map(({ conflict_key }) => conflict_key);

  test('L177 stays when the heads move without saying anything of its memories', async () => {
    const { history, detect } = await partSides(
      temp,
      [addAs('m', 'one'), addAs('c', 'x', { kind: 'decision', scope: 'net' })],
      [correct('m', { content: 'left' }), addAs('dup', 'doubled')],
      [
        correct('m', { content: 'right' }),
        addAs('d', 'y', { kind: 'decision', scope: 'net' }),
        addAs('dup-2', 'doubled'),
      ],
    );
    const before = detect();
    expect(before).toHaveLength(3);
    await history.commit(ours, [addAs('later', 'on the left')]);
    await history.commit(theirs, [addAs('later too', 'on the right')]);
    const after = detect();
    expect(keys(after).toSorted()).toEqual(keys(before).toSorted());
    const ids = new Set(before.map(({ conflict_id }) => conflict_id));
    expect(after.some(({ conflict_id }) => ids.has(conflict_id))).toBe(false);
  });

  test('L177 stays when one of the memories becomes common to both sides', async () => {
    const decision = { kind: 'decision', scope: 'net' };
    const { history, detect } = await partSides(temp, [], [addAs('l', 'one', decision)], [addAs('r', 'two', decision)]);
    const [before] = detect();
    await history.mergeInto(theirs, ours);
    const [after, ...more] = detect();
    expect(more).toEqual([]);
    expect(after?.conflict_type).toBe('contradictory_decision');
    expect(after?.conflict_key).toBe(before?.conflict_key);
  });

  test('L177 changes with what a side says, what is attached to it, and what came in its place', async () => {
    const { history, detect } = await partSides(
      temp,
      [addAs('m', 'one'), addAs('a', 'x'), addAs('b', 'y')],
      [correct('m', { content: 'left' })],
      [correct('m', { content: 'right' })],
    );
    const seen = new Set(keys(detect()));
    for (const op of [
      correct('m', { content: 'right again' }),
      attachEvidence('m', { note: 'n' }),
      attachEvidence('m', { note: 'another' }),
      duplicate('m', 'a'),
    ]) {
      await history.commit(theirs, [op]);
      const found = detect();
      expect(found).toHaveLength(1);
      for (const key of keys(found)) {
        expect(seen.has(key)).toBe(false);
        seen.add(key);
      }
    }
    await history.commit(ours, [supersede('m')]);
    const [left] = keys(detect());
    expect(seen.has(left ?? '')).toBe(false);
  });

  test('L177 tells the sides apart', async () => {
    const { history, base, heads, detect } = await partSides(
      temp,
      [addAs('m', 'one')],
      [correct('m', { content: 'left' })],
      [correct('m', { content: 'right' })],
    );
    const turned = temp.lethe.detectConflicts({
      projectId: history.project,
      baseChangesetId: base,
      leftChangesetId: heads.right,
      rightChangesetId: heads.left,
    });
    expect(keys(turned)).not.toEqual(keys(detect()));
  });

  test('L177 of what an op did stays for ever, also on the other side', async () => {
    const { history, base, detect } = await partSides(
      temp,
      [addAs('m', 'one')],
      [],
      [correct('m', { content: 'two', target_trust: 'user_approved', source_trust: 'inference' })],
    );
    const [before] = detect();
    expect(before?.conflict_type).toBe('trust_downgrade');
    await history.commit(theirs, [correct('m', { content: 'three' })]);
    expect(keys(detect())).toEqual([before?.conflict_key]);
    await history.branch('refs/topics/third', 'refs/shared/main');
    const landed = temp.lethe.detectConflicts({
      projectId: history.project,
      baseChangesetId: base,
      leftChangesetId: history.head(theirs),
      rightChangesetId: history.head('refs/topics/third'),
    });
    expect(keys(landed)).toContain(before?.conflict_key);
  });
});
