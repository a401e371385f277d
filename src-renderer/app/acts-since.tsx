import { Button, Group, Modal } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { useAct } from '../bridge/act.ts';
import { isInWindow } from '../bridge/choose.ts';
import { useEngineQuery } from '../bridge/queries.tsx';
import { Acts } from '../features/audit/acts.tsx';
import { goTo } from '../ui/navigation.ts';
import { RefusedNotice } from '../ui/states.tsx';

/** Acts that the dialog shows; the audit screen has them all. */
const shownMax = 20;

/**
 * On opening the desk: what was done outside it since last time, until the owner says that it was seen. What the owner
 * allowed by a click was seen, and the newest opening of an owner page is the one by which this page was opened.
 * @param recovery nothing is written now, so it is shown again next time
 */
export function ActsSince({ recovery }: { readonly recovery: boolean }) {
  const answer = useEngineQuery('audit.acts_of_power', { since: 'last_seen', limit: shownMax });
  const [open, setOpen] = useState(true);
  const seen = useAct('audit.acts_seen', () => setOpen(false));
  const acts = answer.data?.acts ?? [];
  const newest = acts[0]?.seq;
  const ownOpening = isInWindow() ? undefined : acts.find(({ command }) => command === 'owner_page.open');
  const untold = acts.filter((act) => act !== ownOpening && act.confirmed !== 'desk');
  const isWhole = answer.data?.next_cursor === undefined;
  const shown = untold.length > 0 || isWhole ? untold : acts;
  const isQuiet = newest !== undefined && shown.length === 0 && !recovery;
  useSeenQuietly(isQuiet ? newest : undefined);
  if (newest === undefined || shown.length === 0) return null;
  return (
    <Modal opened={open} onClose={() => setOpen(false)} title="Done outside the desk since last time" size="lg">
      <div className="mg-form">
        <p className="mg-quiet">
          These gave rights or put memory into main, from a command line. If one is not yours, take it back and replace
          what it could have seen.
        </p>
        <Acts acts={shown} />
        {seen.refusal !== null && <RefusedNotice refusal={seen.refusal} />}
        <Group justify="flex-end" gap="xs">
          <Button
            variant="default"
            onClick={() => {
              setOpen(false);
              goTo({ screen: 'audit' });
            }}
          >
            {isWhole ? 'Open the audit' : 'See all of them'}
          </Button>
          {!recovery && (
            <Button loading={seen.busy} onClick={() => seen.send({ through_seq: newest })} data-autofocus>
              I have seen these
            </Button>
          )}
        </Group>
      </div>
    </Modal>
  );
}

/** Notes an entry as seen, once, without asking. */
function useSeenQuietly(seq: number | undefined): void {
  const { send } = useAct('audit.acts_seen', () => undefined);
  const noted = useRef(0);
  useEffect(() => {
    if (seq === undefined || noted.current === seq) return;
    noted.current = seq;
    send({ through_seq: seq });
  }, [seq, send]);
}
