import { type BoundCommand, bind, rowOf } from './bind.ts';
import type { CommandDeps } from './deps.ts';

/** The keys of the home: told about and replaced, never shown. For the owner alone. */
export function keyCommands({ keyRing }: CommandDeps): readonly BoundCommand[] {
  return [
    bind(rowOf('key.list'), { run: () => ({ keys: [...keyRing.list()] }) }),
    bind(rowOf('key.rotate'), {
      objects: ({ key }) => [key],
      run: ({ input }) => keyRing.rotate(input.key, input.drop_earlier ?? false),
      effects: ({ id }) => (id === null ? [] : [id]),
    }),
  ];
}
