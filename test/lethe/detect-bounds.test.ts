import { describe, expect, test } from 'vitest';
import { detectConflicts } from '../../src-main/lethe/detection.ts';
import { defaultPairLimits, type PairLimits } from '../../src-main/lethe/detection-positions.ts';
import type { Conflict } from '../../src-preload/contract/conflict.ts';
import { changesetIdSchema } from '../../src-preload/contract/ids.ts';
import type { JsonObject } from '../../src-preload/contract/json.ts';
import { type HistoryStore, historyProject, type OpDraft, openHistoryStore } from '../fuzz/history-store.ts';
import { told } from './detect-sides.ts';

function addAs(id: string, content: string, more: JsonObject = {}): OpDraft {
  return { op_type: 'add_memory', resulting_event_id: id, payload: { content, ...more } };
}

const decision = (id: string, scope = 'net'): OpDraft => addAs(id, `use ${id}`, { kind: 'decision', scope });
const many = (count: number, make: (id: string) => OpDraft, name: string): readonly OpDraft[] =>
  Array.from({ length: count }, (_, index) => make(`${name}${index}`));

/** Works on what is found between two sides, with bounds of its own. */
function withSides(
  base: readonly OpDraft[],
  left: readonly OpDraft[],
  right: readonly OpDraft[],
  limits: Partial<PairLimits>,
  look: (found: readonly Conflict[], again: () => readonly Conflict[], store: HistoryStore) => void,
): void {
  const store = openHistoryStore();
  try {
    const at = store.commit([store.commit([], [])], base);
    const ours = store.commit([at], left);
    let theirs = store.commit([at], right);
    const detect = (): readonly Conflict[] => {
      const id = (seq: number): ReturnType<typeof changesetIdSchema.parse> => changesetIdSchema.parse(store.idOf(seq));
      return detectConflicts(
        store.db,
        {
          projectId: historyProject,
          baseChangesetId: id(at),
          leftChangesetId: id(ours),
          rightChangesetId: id(theirs),
        },
        { ...defaultPairLimits, ...limits },
      );
    };
    const again = (): readonly Conflict[] => {
      theirs = store.commit([theirs], [addAs('later', 'not about it')]);
      return detect();
    };
    look(detect(), again, store);
  } finally {
    store.close();
  }
}

const tooMany = (found: readonly Conflict[]): readonly Conflict[] =>
  found.filter(({ details }) => details?.too_many === true);

describe('bounds of what is compared', () => {
  test('L174 as many memories of one scope as are compared are all compared, and none is said to be left out', () => {
    withSides(many(3, decision, 'c'), [], [decision('r')], { comparedMax: 3 }, (found) => {
      expect(found).toHaveLength(3);
      expect(tooMany(found)).toEqual([]);
    });
  });

  test('L174 of one more in the common state the newest are compared, and a finding that blocks says so', () => {
    withSides(many(4, decision, 'c'), [], [decision('r')], { comparedMax: 3 }, (found, again) => {
      const [said] = tooMany(found);
      expect(said).toMatchObject({
        conflict_type: 'contradictory_decision',
        severity: 'blocking',
        summary: 'Too many memories share the scope net: not all of them were compared',
        details: { scope: 'net', memory_ids: [] },
      });
      expect(told(found.filter((conflict) => conflict !== said)).toSorted()).toEqual([
        ['contradictory_decision', 'c1', 'r'],
        ['contradictory_decision', 'c2', 'r'],
        ['contradictory_decision', 'c3', 'r'],
      ]);
      const [moved] = tooMany(again());
      expect(moved?.conflict_key).not.toBe(said?.conflict_key);
    });
  });

  test.each([
    [
      'decisions of one subject',
      (id: string) => addAs(id, `use ${id}`, { kind: 'decision', subject: 'x' }),
      'contradictory_decision',
    ],
    [
      'facts of one key',
      (id: string) => addAs(id, `it is ${id}`, { kind: 'fact', fact_key: 'x' }),
      'incompatible_fact',
    ],
    ['memories of one content', (id: string) => addAs(id, 'the same'), 'duplicate_content'],
  ])('L174 too many %s on a side are said', (_, make, type) => {
    withSides([], many(3, make, 'l'), [make('r')], { comparedMax: 2 }, (found) => {
      expect(tooMany(found).map(({ conflict_type }) => conflict_type)).toEqual([type]);
    });
    withSides([], [make('l')], many(3, make, 'r'), { comparedMax: 2 }, (found) => {
      expect(tooMany(found).map(({ conflict_type }) => conflict_type)).toEqual([type]);
    });
  });

  test('L174 memories that are looked at without being common are bounded too', () => {
    const gone = many(600, decision, 'gone');
    const retire = gone.map(
      ({ resulting_event_id }): OpDraft => ({
        op_type: 'supersede_memory',
        target_event_id: resulting_event_id ?? '',
        payload: { summary: 'gone' },
      }),
    );
    const base = [decision('first'), ...gone, ...retire];
    withSides(base, [], [decision('r')], {}, (found) => {
      expect(told(found)).toEqual([['contradictory_decision', 'first', 'r']]);
    });
    withSides(base, [], [decision('r')], { scannedMax: 256 }, (found) => {
      expect(told(found)).toEqual([['contradictory_decision']]);
      expect(tooMany(found)).toHaveLength(1);
    });
  });

  test('L174 more findings than are told are said, by type', () => {
    withSides(many(3, decision, 'c'), [], many(3, decision, 'r'), { findingsMax: 5 }, (found) => {
      expect(found).toHaveLength(6);
      expect(tooMany(found)).toMatchObject([
        { conflict_type: 'contradictory_decision', severity: 'blocking', details: { too_many: true } },
      ]);
    });
    withSides(many(3, decision, 'c'), [], many(3, decision, 'r'), { findingsMax: 9 }, (found) => {
      expect(found).toHaveLength(9);
      expect(tooMany(found)).toEqual([]);
    });
  });

  test('L169 L175 the common state holds what a memory says now, not what it once said', () => {
    const renamed: OpDraft = { op_type: 'correct_memory', target_event_id: 'c0', payload: { scope: 'desk' } };
    withSides([...many(2, decision, 'c'), renamed], [], [decision('r')], {}, (found) => {
      expect(told(found)).toEqual([['contradictory_decision', 'c1', 'r']]);
    });
  });

  test('L174 a thousand decisions of one scope all contradict a new one', () => {
    withSides(many(1_000, decision, 'c'), [], [decision('r')], {}, (found) => {
      expect(found).toHaveLength(1_000);
      expect(tooMany(found)).toEqual([]);
    });
  });
});
