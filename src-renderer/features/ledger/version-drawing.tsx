import type { LedgerVersion } from '../../../src-preload/contract/ledger.ts';
import { drawVersions } from './ledger-words.ts';

const stepPx = 26;
const linePx = 44;

interface VersionDrawingProps {
  readonly versions: readonly LedgerVersion[];
  readonly current: number | undefined;
  readonly choose: (version: number) => void;
}

/**
 * Versions as dots on a line, and from what each one says it was derived: an arc to the range. The list below says the same
 * in words, so that the drawing adds nothing that a screen reader would miss.
 */
export function VersionDrawing({ versions, current, choose }: VersionDrawingProps) {
  const drawn = drawVersions(versions, stepPx);
  if (!drawn.some(({ from }) => from !== undefined)) return null;
  return (
    <div className="mg-ledger-drawing">
      <svg width={drawn.length * stepPx} height={linePx + 18} aria-hidden="true">
        <title>Versions and what they were derived from</title>
        <line x1={stepPx / 2} x2={(drawn.length - 0.5) * stepPx} y1={linePx} y2={linePx} className="mg-ledger-line" />
        {drawn.map(
          ({ version, x, from }) =>
            from !== undefined && (
              <g key={`from ${version}`} className="mg-ledger-from">
                <line x1={from.x1} x2={from.x2} y1={linePx} y2={linePx} />
                <path d={arc(x, (from.x1 + from.x2) / 2)} />
              </g>
            ),
        )}
        {drawn.map(({ version, x, kind }) => (
          // biome-ignore lint/a11y/noStaticElementInteractions: the list below has a button for each version
          <g
            key={version}
            className="mg-ledger-dot"
            data-kind={kind}
            data-current={version === current}
            onClick={() => choose(version)}
          >
            <circle cx={x} cy={linePx} r={5} />
            <text x={x} y={linePx + 16}>
              {version}
            </text>
          </g>
        ))}
      </svg>
    </div>
  );
}

function arc(from: number, to: number): string {
  const height = Math.min(linePx - 8, 10 + Math.abs(from - to) / 3);
  return `M ${from} ${linePx} C ${from} ${linePx - height}, ${to} ${linePx - height}, ${to} ${linePx}`;
}
