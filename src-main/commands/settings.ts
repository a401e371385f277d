import { type BoundCommand, bind, rowOf } from './bind.ts';
import type { CommandDeps } from './deps.ts';

/** What the owner set that decides what may happen here. For the owner alone. */
export function settingCommands({ charon }: CommandDeps): readonly BoundCommand[] {
  const shown = () => ({ owner_self_merge: charon.ownerSelfMerge() });
  return [
    bind(rowOf('setting.show'), { run: shown }),
    bind(rowOf('setting.set_owner_self_merge'), {
      objects: ({ on }) => [on ? 'on' : 'off'],
      run: async ({ input: { on } }) => {
        await charon.setOwnerSelfMerge(on);
        return shown();
      },
    }),
  ];
}
