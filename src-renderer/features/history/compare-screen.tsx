import './history.css';
import { ActionIcon, Button, TextInput, Tooltip } from '@mantine/core';
import { ArrowLeft, ArrowRightLeft } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { changesetIdSchema } from '../../../src-preload/contract/ids.ts';
import { usePeople } from '../../bridge/people.ts';
import { useEngineQuery } from '../../bridge/queries.tsx';
import { Id } from '../../ui/id.tsx';
import { MemoryLine } from '../../ui/memory-text.tsx';
import { goTo } from '../../ui/navigation.ts';
import { formatRoute } from '../../ui/routes.ts';
import { ScreenHead } from '../../ui/screen-head.tsx';
import { RefusedNotice } from '../../ui/states.tsx';
import { When } from '../../ui/when.tsx';
import { Effect } from './changeset-detail.tsx';

interface CompareProps {
  readonly base: string;
  readonly target: string;
}

/** Two changesets compared by meaning: what a reader of the second knows that a reader of the first does not. */
export function CompareScreen({ base, target }: CompareProps) {
  const nameOf = usePeople();
  const known = changesetIdSchema.safeParse(base).success && changesetIdSchema.safeParse(target).success;
  return (
    <div className="mg-screen">
      <ScreenHead title="Compare" note="what changed in meaning, from base to target">
        <Button component="a" variant="default" leftSection={<ArrowLeft size={14} aria-hidden />} href="#/history">
          History
        </Button>
      </ScreenHead>
      <div className="mg-pane">
        <div className="mg-page">
          <PairForm key={`${base} ${target}`} base={base} target={target} />
          {known && (
            <>
              <div className="mg-compare-sides">
                <Side label="Base" id={base} />
                <Side label="Target" id={target} />
              </div>
              <Effect base={base} target={target} nameOf={nameOf} />
            </>
          )}
        </div>
      </div>
    </div>
  );
}

function PairForm({ base, target }: CompareProps) {
  const [first, setFirst] = useState(base);
  const [second, setSecond] = useState(target);
  const bad = (id: string): string | null =>
    changesetIdSchema.safeParse(id.trim()).success ? null : 'a changeset id is 36 characters long';
  const ready = bad(first) === null && bad(second) === null;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (ready) goTo({ screen: 'compare', base: first.trim(), target: second.trim() });
  };
  return (
    <form className="mg-compare-form" onSubmit={submit}>
      <TextInput
        label="Base changeset"
        size="xs"
        value={first}
        error={bad(first)}
        onChange={(event) => setFirst(event.currentTarget.value)}
      />
      <Tooltip label="Swap base and target">
        <ActionIcon
          variant="default"
          size={30}
          aria-label="Swap base and target"
          onClick={() => goTo({ screen: 'compare', base: target, target: base })}
        >
          <ArrowRightLeft size={14} aria-hidden />
        </ActionIcon>
      </Tooltip>
      <TextInput
        label="Target changeset"
        size="xs"
        value={second}
        error={bad(second)}
        onChange={(event) => setSecond(event.currentTarget.value)}
      />
      <Button type="submit" disabled={!ready}>
        Compare
      </Button>
    </form>
  );
}

function Side({ label, id }: { readonly label: string; readonly id: string }) {
  const answer = useEngineQuery('memory.show', { id });
  return (
    <section className="mg-card mg-compare-side" aria-label={label}>
      <p className="mg-quiet">
        {label} <Id id={id} of={`${label.toLowerCase()} changeset id`} />{' '}
        <a href={formatRoute({ screen: 'history', changesetId: id })}>show</a>
      </p>
      {answer.error !== null && <RefusedNotice refusal={answer.error} />}
      {answer.data !== undefined && (
        <p>
          <MemoryLine text={answer.data.message} />{' '}
          <span className="mg-quiet">
            <When at={answer.data.created_at} />
          </span>
        </p>
      )}
    </section>
  );
}
