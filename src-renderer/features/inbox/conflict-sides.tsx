import { BeforeAfter } from '../../ui/before-after.tsx';
import { type ConflictSides, differingFields, type Said } from '../../ui/conflicts.ts';
import { Evidence } from '../../ui/evidence.tsx';
import { Id } from '../../ui/id.tsx';
import { MemoryFacts } from '../../ui/memory-facts.tsx';
import { MemoryText } from '../../ui/memory-text.tsx';
import { shortMemoryId } from '../../ui/words.ts';

/** Base, ours and theirs beside each other; each side shows how it differs from the base that both grew out of. */
export function ConflictSidesView({ sides }: { readonly sides: ConflictSides }) {
  const { base, ours, theirs, isOneMemory } = sides;
  if (ours === undefined && theirs === undefined) return null;
  const differs = isOneMemory ? differingFields(ours?.memory ?? null, theirs?.memory ?? null) : '';
  return (
    <>
      <div className="mg-sides" data-columns={base === undefined ? 2 : 3}>
        {base !== undefined && <Side side="base" label="Base" number={1} said={base} from={undefined} />}
        <Side side="ours" label="Ours, in the target" number={2} said={ours} from={base?.content} />
        <Side side="theirs" label="Theirs, proposed" number={3} said={theirs} from={base?.content} />
      </div>
      {differs !== '' && <p className="mg-quiet">The sides differ in {differs}.</p>}
    </>
  );
}

interface SideProps {
  readonly side: 'base' | 'ours' | 'theirs';
  readonly label: string;
  readonly number: number;
  readonly said: Said | undefined;
  /** The text of the base; undefined where there is nothing to compare with. */
  readonly from: string | undefined;
}

function Side({ side, label, number, said, from }: SideProps) {
  const memory = said?.memory ?? null;
  return (
    <section className="mg-side" aria-label={label} data-side={side} tabIndex={-1} aria-keyshortcuts={String(number)}>
      <h3>
        {label}
        {said?.memoryId !== undefined && <Id id={said.memoryId} of="memory id" label={shortMemoryId(said.memoryId)} />}
      </h3>
      <SideText said={said} from={from} />
      {memory !== null && <MemoryFacts memory={memory} />}
      {memory !== null && <Evidence memory={memory} />}
    </section>
  );
}

function SideText({ said, from }: { readonly said: Said | undefined; readonly from: string | undefined }) {
  const content = said?.content;
  if (content === undefined) return <p className="mg-quiet">Not there</p>;
  return from === undefined || from === content ? (
    <MemoryText text={content} />
  ) : (
    <BeforeAfter before={from} after={content} />
  );
}
