import { Button, Popover, TextInput } from '@mantine/core';
import { ChevronDown, Clock, History } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { changesetIdSchema } from '../../../src-preload/contract/ids.ts';
import { Id } from '../../ui/id.tsx';
import { goTo } from '../../ui/navigation.ts';
import { formatRoute, type Moment } from '../../ui/routes.ts';
import { shortId, stamp } from '../../ui/words.ts';

interface MomentControlProps {
  readonly moment: Moment;
  readonly memoryId: string | undefined;
}

/** Chooses the moment at which the whole screen is read: now, a date, a changeset. */
export function MomentControl({ moment, memoryId }: MomentControlProps) {
  const [opened, setOpened] = useState(false);
  const choose = (next: Moment): void => {
    setOpened(false);
    goTo({ screen: 'memory', memoryId, moment: next });
  };
  return (
    <Popover opened={opened} onChange={setOpened} position="bottom-end" width={300} shadow="md" trapFocus>
      <Popover.Target>
        <Button
          variant="default"
          leftSection={<Clock size={14} aria-hidden />}
          rightSection={<ChevronDown size={14} aria-hidden />}
          onClick={() => setOpened(!opened)}
        >
          Moment: {momentWords(moment)}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Choose a moment">
        <div className="mg-form">
          <Button variant={moment.kind === 'now' ? 'light' : 'default'} onClick={() => choose({ kind: 'now' })}>
            Now
          </Button>
          <DateForm choose={choose} />
          <ChangesetForm choose={choose} />
        </div>
      </Popover.Dropdown>
    </Popover>
  );
}

function DateForm({ choose }: { readonly choose: (moment: Moment) => void }) {
  const [local, setLocal] = useState('');
  const time = Date.parse(local);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!Number.isNaN(time)) choose({ kind: 'time', at: new Date(time).toISOString() });
  };
  return (
    <form className="mg-moment-form" onSubmit={submit}>
      <TextInput
        size="xs"
        type="datetime-local"
        step={1}
        label="As of a date"
        value={local}
        onChange={(event) => setLocal(event.currentTarget.value)}
      />
      <Button type="submit" variant="default" disabled={Number.isNaN(time)}>
        Show date
      </Button>
    </form>
  );
}

function ChangesetForm({ choose }: { readonly choose: (moment: Moment) => void }) {
  const [id, setId] = useState('');
  const known = changesetIdSchema.safeParse(id.trim());
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (known.success) choose({ kind: 'changeset', id: known.data });
  };
  return (
    <form className="mg-moment-form" onSubmit={submit}>
      <TextInput
        size="xs"
        label="As of a changeset"
        placeholder="whole id"
        value={id}
        error={id !== '' && !known.success && 'a changeset id is 36 characters long'}
        onChange={(event) => setId(event.currentTarget.value)}
      />
      <Button type="submit" variant="default" disabled={!known.success}>
        Show changeset
      </Button>
    </form>
  );
}

interface MomentBannerProps extends MomentControlProps {
  readonly head: string | undefined;
}

/** Says that the screen shows the past, which moment, and the way back. */
export function MomentBanner({ moment, head, memoryId }: MomentBannerProps) {
  return (
    <p className="mg-moment-banner" role="status">
      <History size={15} aria-hidden />
      <span>
        You are reading memory as it was {moment.kind === 'time' ? `on ${stamp(moment.at)}` : 'at a changeset'}
        {head !== undefined && (
          <>
            {' '}
            (<Id id={head} of="changeset id of this moment" />)
          </>
        )}
        .
      </span>
      <a href={formatRoute({ screen: 'memory', memoryId, moment: { kind: 'now' } })}>Back to now</a>
    </p>
  );
}

function momentWords(moment: Moment): string {
  if (moment.kind === 'now') return 'now';
  return moment.kind === 'time' ? stamp(moment.at) : shortId(moment.id);
}
