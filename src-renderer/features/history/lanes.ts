/** What the graph needs to know of a changeset. */
export interface LaneNode {
  readonly changeset_id: string;
  readonly parent_ids: readonly string[];
}

/** A line inside one row: from a lane at its top (or the node) to a lane at its bottom (or the node). `color` is a lane. */
export interface LaneLine {
  readonly kind: 'pass' | 'in' | 'out';
  readonly from: number;
  readonly to: number;
  readonly color: number;
}

/** One row of the graph: the node's lane, and the lines through the row. */
export interface LaneRow {
  readonly lane: number;
  readonly lines: readonly LaneLine[];
  /** How many lanes this row is wide. */
  readonly width: number;
}

/**
 * Places changesets (newest first, no child after its parent) into lanes, so that every line runs from child to
 * parent. A first parent stays in its child's lane, and lines that lead to one parent meet at it; a lane is free again
 * once its line has ended. Parents that are not in the list run on to the bottom. Linear in nodes times lanes.
 */
export function layOutLanes(nodes: readonly LaneNode[]): readonly LaneRow[] {
  let lanes: readonly (string | null)[] = [];
  return nodes.map((node) => {
    const placed = placeNode(lanes, node);
    lanes = placed.lanes;
    return placed.row;
  });
}

interface Placed {
  readonly row: LaneRow;
  readonly lanes: readonly (string | null)[];
}

function placeNode(before: readonly (string | null)[], node: LaneNode): Placed {
  const waiting = before.flatMap((id, lane) => (id === node.changeset_id ? [lane] : []));
  const lane = waiting[0] ?? firstFree(before);
  const after: (string | null)[] = before.map((id) => (id === node.changeset_id ? null : id));
  while (after.length <= lane) after.push(null);
  const lines: LaneLine[] = [];
  before.forEach((id, from) => {
    if (id === node.changeset_id) lines.push({ kind: 'in', from, to: lane, color: from });
    else if (id !== null) lines.push({ kind: 'pass', from, to: from, color: from });
  });
  node.parent_ids.forEach((parent, index) => {
    const known = after.indexOf(parent);
    const to = index === 0 ? lane : known !== -1 ? known : firstFreeBeside(after, lane);
    after[to] = parent;
    lines.push({ kind: 'out', from: lane, to, color: to });
  });
  const width = Math.max(before.length, after.length);
  while (after.length > 0 && after[after.length - 1] === null) after.pop();
  return { row: { lane, lines, width }, lanes: after };
}

function firstFree(lanes: readonly (string | null)[]): number {
  const free = lanes.indexOf(null);
  return free === -1 ? lanes.length : free;
}

/** A second parent never takes the node's own lane, which would draw it as a first parent. */
function firstFreeBeside(lanes: readonly (string | null)[], lane: number): number {
  const free = lanes.findIndex((id, index) => id === null && index !== lane);
  return free === -1 ? Math.max(lanes.length, lane + 1) : free;
}
