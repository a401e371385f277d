import type { KeySealing } from '../../src-preload/contract/commands/operations.ts';
import { sealingStops } from '../../src-preload/contract/key-words.ts';
import { Fault } from '../base/fault.ts';
import type { Caller } from '../charon/api.ts';
import { type BoundCommand, bind, rowOf } from './bind.ts';
import type { CommandDeps } from './deps.ts';

/** The keys of the home: told about, replaced, sealed, and exported sealed; never shown. For the owner alone. */
export function keyCommands(deps: CommandDeps): readonly BoundCommand[] {
  const { keyRing, charon } = deps;
  return [
    bind(rowOf('key.list'), { run: () => ({ keys: [...keyRing.list()] }) }),
    bind(rowOf('key.rotate'), {
      objects: ({ key }) => [key],
      run: ({ input }) => keyRing.rotate(input.key, input.drop_earlier ?? false),
      effects: ({ id }) => (id === null ? [] : [id]),
    }),
    ...sealingCommands(deps),
    bind(rowOf('key.recovery'), { run: () => keyRing.recovery() }),
    bind(rowOf('key.set_recovery'), { run: ({ input }) => keyRing.setRecovery(input.passphrase) }),
    bind(rowOf('key.export'), {
      run: () => {
        const envelope = keyRing.recoveryEnvelope(charon.homeId);
        if (envelope !== undefined) return { envelope };
        throw new Fault(
          'KEYS_INVALID',
          'No recovery passphrase is set, and keys leave a home only sealed under one. Set it first: charon keys recovery set.',
        );
      },
    }),
  ];
}

function sealingCommands({ keyRing, charon }: CommandDeps): readonly BoundCommand[] {
  const sealing = async (caller: Caller): Promise<KeySealing> => {
    const { sealed, reason = otherDoor(caller) } = await keyRing.sealing();
    return { sealed, available: reason === undefined, reason: reason ?? null, stops_working: [...sealingStops] };
  };
  const prepare = ({ caller }: { readonly caller: Caller }): void => {
    const reason = otherDoor(caller);
    if (reason !== undefined) throw new Fault('DESK_ONLY', reason);
  };
  return [
    bind(rowOf('key.sealing'), { run: ({ caller }) => sealing(caller) }),
    bind(rowOf('key.seal'), {
      prepare,
      run: async ({ caller }) => {
        await keyRing.seal(charon.homeId);
        return sealing(caller);
      },
    }),
    bind(rowOf('key.unseal'), {
      prepare,
      run: async ({ caller }) => {
        await keyRing.unseal();
        return sealing(caller);
      },
    }),
  ];
}

/** Keys are sealed and unsealed where their owner sits: at the window, whose process has the keychain. */
function otherDoor({ door }: Caller): string | undefined {
  return door === 'window'
    ? undefined
    : 'Keys are sealed and unsealed in the window of the desk alone. Open it: Settings, Keys.';
}
