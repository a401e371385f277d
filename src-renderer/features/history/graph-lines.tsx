import type { LaneLine, LaneRow } from './lanes.ts';

/** Height of a row and width of a lane, in pixels at the usual text size. */
export const graphRowPx = 44;
const lanePx = 14;
const lanesShownMax = 14;
const colors = 6;

interface GraphLinesProps {
  readonly row: LaneRow;
  readonly lanes: number;
  readonly merge: boolean;
}

/** The lines of one row and its node, drawn; the row's text says the same in words. */
export function GraphLines({ row, lanes, merge }: GraphLinesProps) {
  const width = (Math.min(lanes, lanesShownMax) + 0.5) * lanePx;
  const middle = graphRowPx / 2;
  return (
    <svg
      className="mg-graph"
      width={width}
      height={graphRowPx}
      viewBox={`0 0 ${width} ${graphRowPx}`}
      aria-hidden="true"
    >
      {row.lines.map((line) => (
        <path key={`${line.kind} ${line.from} ${line.to}`} d={pathOf(line)} stroke={laneColor(line.color)} />
      ))}
      <circle
        cx={laneX(row.lane)}
        cy={middle}
        r={merge ? 4.5 : 4}
        stroke={laneColor(row.lane)}
        fill={merge ? 'var(--mg-surface)' : laneColor(row.lane)}
      />
    </svg>
  );
}

function laneX(lane: number): number {
  return (Math.min(lane, lanesShownMax - 1) + 0.75) * lanePx;
}

function laneColor(lane: number): string {
  return `var(--mg-lane-${lane % colors})`;
}

function pathOf(line: LaneLine): string {
  const from = laneX(line.from);
  const to = laneX(line.to);
  const middle = graphRowPx / 2;
  if (line.kind === 'pass') return `M${from} 0V${graphRowPx}`;
  if (line.kind === 'in')
    return from === to
      ? `M${to} 0V${middle}`
      : `M${from} 0C${from} ${middle * 0.7} ${to} ${middle * 0.3} ${to} ${middle}`;
  return from === to
    ? `M${from} ${middle}V${graphRowPx}`
    : `M${from} ${middle}C${from} ${middle * 1.6} ${to} ${middle * 1.3} ${to} ${graphRowPx}`;
}
