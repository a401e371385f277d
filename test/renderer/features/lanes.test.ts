import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type LaneNode, type LaneRow, layOutLanes } from '../../../src-renderer/features/history/lanes.ts';

const node = (id: string, ...parents: string[]): LaneNode => ({ changeset_id: id, parent_ids: parents });
const lanesOf = (nodes: readonly LaneNode[]): readonly number[] => layOutLanes(nodes).map((row) => row.lane);

describe('lanes', () => {
  test('a straight history has one lane', () => {
    const rows = layOutLanes([node('c', 'b'), node('b', 'a'), node('a')]);
    expect(rows.map((row) => row.lane)).toEqual([0, 0, 0]);
    expect(rows.every((row) => row.width === 1)).toBe(true);
    expect(rows[2]?.lines).toEqual([{ kind: 'in', from: 0, to: 0, color: 0 }]);
  });

  test('a second head gets a lane of its own and meets the first at their parent', () => {
    const rows = layOutLanes([node('main', 'a'), node('topic', 'a'), node('a')]);
    expect(rows.map((row) => row.lane)).toEqual([0, 1, 0]);
    expect(rows[2]?.lines).toEqual([
      { kind: 'in', from: 0, to: 0, color: 0 },
      { kind: 'in', from: 1, to: 0, color: 1 },
    ]);
  });

  test('a merge keeps its first parent in its own lane and sends the second to another', () => {
    const rows = layOutLanes([node('m', 'a', 'b'), node('b', 'a'), node('a')]);
    expect(rows.map((row) => row.lane)).toEqual([0, 1, 0]);
    expect(rows[0]?.lines).toEqual([
      { kind: 'out', from: 0, to: 0, color: 0 },
      { kind: 'out', from: 0, to: 1, color: 1 },
    ]);
  });

  test('main stays straight when a branch is merged that began before its present head', () => {
    expect(lanesOf([node('m2', 'm1', 't'), node('t', 'm1'), node('m1', 'r', 's'), node('s', 'r'), node('r')])).toEqual([
      0, 1, 0, 1, 0,
    ]);
  });

  test('a lane whose line has ended is used again', () => {
    expect(lanesOf([node('x'), node('y'), node('z')])).toEqual([0, 0, 0]);
  });

  test('lines to parents that are not loaded run on', () => {
    const rows = layOutLanes([node('b', 'older'), node('c', 'b2'), node('b2', 'older')]);
    expect(rows[2]?.lines).toContainEqual({ kind: 'pass', from: 0, to: 0, color: 0 });
  });

  test('in any history every line that leaves a row enters the next, and ends at its parent', () => {
    const history = fc
      .array(fc.tuple(fc.nat(), fc.nat(), fc.integer({ min: 0, max: 2 })), { minLength: 1, maxLength: 30 })
      .map((wishes) => wishes.map((wish, index) => nodeOf(wish, index, wishes.length)));
    fc.assert(
      fc.property(history, (nodes) => {
        const rows = layOutLanes(nodes);
        rows.forEach((row, index) => {
          expect(leaving(row)).toEqual(entering(rows[index + 1]));
        });
      }),
    );
  });
});

/** Node `index` of `total`, with parents among the nodes after it. */
function nodeOf([first, second, wanted]: readonly [number, number, number], index: number, total: number): LaneNode {
  const after = total - index - 1;
  if (after === 0) return node(`n${index}`);
  const parents = new Set([first, second].slice(0, wanted).map((wish) => `n${index + 1 + (wish % after)}`));
  return node(`n${index}`, ...parents);
}

function leaving(row: LaneRow): readonly number[] {
  const lanes = new Set(row.lines.flatMap((line) => (line.kind === 'in' ? [] : [line.to])));
  return [...lanes].sort((a, b) => a - b);
}

function entering(row: LaneRow | undefined): readonly number[] {
  const lanes = new Set(row?.lines.flatMap((line) => (line.kind === 'out' ? [] : [line.from])));
  return [...lanes].sort((a, b) => a - b);
}
