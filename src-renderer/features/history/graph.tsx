import { Checkbox } from '@mantine/core';
import { GitBranch, Lock } from 'lucide-react';
import { useMemo } from 'react';
import type { GraphNode, Ref } from '../../../src-preload/contract/changeset.ts';
import { formatRoute } from '../../ui/routes.ts';
import { VirtualList } from '../../ui/virtual-list.tsx';
import { plainLine } from '../../ui/visible-text.ts';
import { When } from '../../ui/when.tsx';
import { count, shortId } from '../../ui/words.ts';
import { GraphLines, graphRowPx } from './graph-lines.tsx';
import { type LaneRow, layOutLanes } from './lanes.ts';
import { refLabel } from './ref-label.ts';

interface GraphProps {
  readonly nodes: readonly GraphNode[];
  readonly refs: readonly Ref[];
  readonly current: string | undefined;
  readonly selected: readonly string[];
  readonly nameOf: (principalId: string) => string;
  readonly toggle: (changesetId: string) => void;
  readonly onEnd: (() => void) | undefined;
}

/** All changesets, newest first, with lanes and the refs that point at them. */
export function Graph({ nodes, refs, current, selected, nameOf, toggle, onEnd }: GraphProps) {
  const rows = useMemo(() => layOutLanes(nodes), [nodes]);
  const lanes = Math.max(1, ...rows.map((row) => row.width));
  const items = nodes.flatMap((node, index) => {
    const row = rows[index];
    return row === undefined ? [] : [{ node, row }];
  });
  return (
    <VirtualList
      label="Changesets"
      items={items}
      keyOf={({ node }) => node.changeset_id}
      estimatePx={graphRowPx}
      current={nodes.findIndex((node) => node.changeset_id === current)}
      onEnd={onEnd}
      renderRow={({ node, row }) => (
        <GraphRow
          node={node}
          row={row}
          lanes={lanes}
          refs={refs.filter((ref) => ref.head_changeset_id === node.changeset_id)}
          current={node.changeset_id === current}
          selected={selected.includes(node.changeset_id)}
          nameOf={nameOf}
          toggle={() => toggle(node.changeset_id)}
        />
      )}
    />
  );
}

interface GraphRowProps {
  readonly node: GraphNode;
  readonly row: LaneRow;
  readonly lanes: number;
  readonly refs: readonly Ref[];
  readonly current: boolean;
  readonly selected: boolean;
  readonly nameOf: (principalId: string) => string;
  readonly toggle: () => void;
}

function GraphRow({ node, row, lanes, refs, current, selected, nameOf, toggle }: GraphRowProps) {
  return (
    <div className="mg-graph-row" data-selected={selected}>
      <Checkbox
        size="xs"
        className="mg-graph-tick"
        aria-label={`Select ${shortId(node.changeset_id)} to compare`}
        checked={selected}
        onChange={toggle}
      />
      <GraphLines row={row} lanes={lanes} merge={node.parent_ids.length > 1} />
      <a
        className="mg-graph-link"
        href={formatRoute({ screen: 'history', changesetId: node.changeset_id })}
        aria-current={current ? 'true' : undefined}
      >
        <span className="mg-graph-title">
          {refs.map((ref) => (
            <span
              key={ref.ref_name}
              className="mg-chip"
              data-tone={ref.protected ? 'accent' : 'noted'}
              title={ref.ref_name}
            >
              {ref.protected ? <Lock size={11} aria-hidden /> : <GitBranch size={11} aria-hidden />}
              <span>{refLabel(ref.ref_name, nameOf)}</span>
            </span>
          ))}
          <span className="mg-graph-message" dir="auto">
            {plainLine(node.message, 160)}
          </span>
        </span>
        <span className="mg-row-meta">
          <span>{plainLine(nameOf(node.author_principal), 40)}</span>
          <When at={node.created_at} />
          <span>{node.op_count === 0 && node.parent_ids.length === 0 ? 'root' : count(node.op_count, 'op')}</span>
          <span className="mg-mono">{shortId(node.changeset_id)}</span>
        </span>
      </a>
    </div>
  );
}
