import { Modal } from '@mantine/core';
import { Key } from '../ui/keys.tsx';
import { useDesk } from './desk-store.ts';

const groups: readonly { readonly title: string; readonly keys: readonly (readonly [string, string])[] }[] = [
  {
    title: 'Everywhere',
    keys: [
      ['Ctrl K', 'Search or run a command'],
      ['?', 'All keys'],
      ['Esc', 'Close, or go back to the list'],
    ],
  },
  {
    title: 'Lists',
    keys: [
      ['j', 'Next'],
      ['k', 'Previous'],
      ['Enter', 'Open'],
      ['/', 'Search memory'],
    ],
  },
  {
    title: 'Review',
    keys: [
      ['a', 'Approve'],
      ['c', 'Request changes'],
      ['r', 'Reject'],
      ['m', 'Merge'],
      ['x', 'Tick the change for a cherry-pick'],
    ],
  },
  {
    title: 'Conflicts',
    keys: [
      ['n', 'Next conflict'],
      ['1', 'Look at the base'],
      ['2', 'Look at ours'],
      ['3', 'Look at theirs'],
      ['e', 'Edit'],
      ['u', 'Undo the choice'],
    ],
  },
  { title: 'History', keys: [['x', 'Select to compare']] },
];

/** Every key of the desk. */
export function ShortcutHelp() {
  const dialog = useDesk((desk) => desk.dialog);
  const show = useDesk((desk) => desk.show);
  return (
    <Modal opened={dialog === 'shortcuts'} onClose={() => show('none')} title="All keys">
      <div className="mg-keys">
        {groups.map((group) => (
          <section key={group.title}>
            <h3>{group.title}</h3>
            <dl>
              {group.keys.map(([key, does]) => (
                <div key={key}>
                  <dt>
                    <Key name={key} />
                  </dt>
                  <dd>{does}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Modal>
  );
}
