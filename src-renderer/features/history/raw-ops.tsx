import type { Changeset, Op } from '../../../src-preload/contract/changeset.ts';
import { opWords } from '../../ui/changes.ts';
import { Inert } from '../../ui/memory-text.tsx';
import { plainLine } from '../../ui/visible-text.ts';
import { count } from '../../ui/words.ts';

/** More ops than this are counted, not drawn: the changes above show their effect page by page. */
const opsShownMax = 200;

/** The operations exactly as they were written, for whoever wants to see the bytes behind the meaning. */
export function RawOps({ changeset }: { readonly changeset: Changeset }) {
  const ops = changeset.ops ?? [];
  if (ops.length === 0) return null;
  return (
    <details className="mg-raw">
      <summary>{count(ops.length, 'operation')} as written</summary>
      <ol>
        {ops.slice(0, opsShownMax).map((op) => (
          <RawOp key={op.ordinal} op={op} />
        ))}
      </ol>
      {ops.length > opsShownMax && <p className="mg-quiet">and {count(ops.length - opsShownMax, 'more', 'more')}</p>}
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
