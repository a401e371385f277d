import type { Resolution } from '../../../src-preload/contract/conflict.ts';
import { opWords } from '../../ui/changes.ts';
import { MemoryLine } from '../../ui/memory-text.tsx';
import { plainLine } from '../../ui/visible-text.ts';
import { shortId, shortMemoryId } from '../../ui/words.ts';

type WrittenOp = Resolution['ops'][number];

/** The ops that the merge will write for a draft, one line each. */
export function WillWrite({ ops }: { readonly ops: readonly WrittenOp[] }) {
  return (
    <div className="mg-will-write">
      <p className="mg-quiet">The merge will write</p>
      {ops.length === 0 ? (
        <p>nothing: what stands in the target is what was chosen</p>
      ) : (
        <ol>
          {ops.map((op) => (
            <li key={JSON.stringify(op)}>
              <WrittenLine op={op} />
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}

function WrittenLine({ op }: { readonly op: WrittenOp }) {
  const restores = op.payload?.restores;
  const content = op.payload?.content;
  const verb = typeof restores === 'string' ? 'Restored' : opWords[op.op_type].verb;
  const subject = op.target_event_id ?? op.resulting_event_id;
  return (
    <>
      <strong>{verb}</strong>{' '}
      {subject !== undefined && <span className="mg-mono">{plainLine(shortMemoryId(subject), 80)}</span>}
      {op.target_event_id !== undefined && op.resulting_event_id !== undefined && (
        <>
          {' → '}
          <span className="mg-mono">{plainLine(shortMemoryId(op.resulting_event_id), 80)}</span>
        </>
      )}
      {typeof restores === 'string' && <> as it is at {shortId(restores)}</>}
      {typeof content === 'string' && content !== '' && (
        <>
          : <MemoryLine text={content} />
        </>
      )}
    </>
  );
}
