import { Button } from '@mantine/core';
import type { Op } from '../../../src-preload/contract/changeset.ts';
import { opWords } from '../../ui/changes.ts';
import { Inert } from '../../ui/memory-text.tsx';
import { plainLine } from '../../ui/visible-text.ts';
import { count } from '../../ui/words.ts';

interface RawOpsProps {
  /** Those that were read so far. */
  readonly ops: readonly Op[];
  /** Reads on, while the changeset has more pages. */
  readonly more: (() => void) | undefined;
}

/** The operations exactly as they were written, for whoever wants to see the bytes behind the meaning. */
export function RawOps({ ops, more }: RawOpsProps) {
  if (ops.length === 0) return null;
  return (
    <details className="mg-raw">
      <summary>
        {count(ops.length, 'operation')} as written{more !== undefined && ', and more'}
      </summary>
      <ol>
        {ops.map((op) => (
          <RawOp key={op.ordinal} op={op} />
        ))}
      </ol>
      {more !== undefined && (
        <Button variant="default" onClick={more}>
          Load more operations
        </Button>
      )}
    </details>
  );
}

function RawOp({ op }: { readonly op: Op }) {
  return (
    <li>
      <p>
        <span className="mg-quiet">{op.ordinal}</span> <strong>{opWords[op.op_type].verb}</strong>{' '}
        <span className="mg-mono mg-quiet">{op.op_type}</span>
        {op.target_event_id !== undefined && <span className="mg-mono"> {plainLine(op.target_event_id, 120)}</span>}
        {op.resulting_event_id !== undefined && (
          <span className="mg-mono"> → {plainLine(op.resulting_event_id, 120)}</span>
        )}
      </p>
      {op.payload !== undefined && (
        <pre>
          <Inert text={JSON.stringify(op.payload, null, 2)} />
        </pre>
      )}
    </li>
  );
}
