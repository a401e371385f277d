import { Button, TextInput } from '@mantine/core';
import { Grape } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { RefusedNotice } from '../../ui/states.tsx';
import { count } from '../../ui/words.ts';
import type { Pick } from './use-pick.ts';

interface PickBarProps {
  readonly pick: Pick;
  /** Changes of the proposal that were read. */
  readonly total: number;
}

/** Says that the ticks make a cherry-pick, of how much, and files it. */
export function PickBar({ pick, total }: PickBarProps) {
  const [message, setMessage] = useState('');
  const taken = pick.ticked.size + pick.along.size;
  if (taken === 0) return null;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (message.trim() !== '') pick.propose(message.trim());
  };
  return (
    <form className="mg-pick" aria-label="Cherry-pick" onSubmit={submit}>
      <p>
        <Grape size={15} aria-hidden /> <strong>Cherry-pick</strong> of {taken} of {count(total, 'change')}
        {pick.along.size > 0 && `, ${pick.along.size} of them needed by others`}. Only these are proposed to main, in a
        proposal of yours; this one stays as it is.
      </p>
      <div className="mg-pick-row">
        <TextInput
          size="xs"
          aria-label="Message of the cherry-pick"
          placeholder="What it brings"
          value={message}
          onChange={(event) => setMessage(event.currentTarget.value)}
        />
        <Button type="submit" loading={pick.busy} disabled={message.trim() === ''}>
          Propose the cherry-pick
        </Button>
        <Button variant="subtle" color="gray" onClick={pick.clear}>
          Clear
        </Button>
      </div>
      {pick.refusal !== null && <RefusedNotice refusal={pick.refusal} />}
    </form>
  );
}
