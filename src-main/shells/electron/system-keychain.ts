import { assertNever } from '../../base/assert.ts';
import { Fault, toFault } from '../../base/fault.ts';
import type { Keychain } from '../../home/keychain.ts';
import type { KeychainAnswer, KeychainAsk } from '../engine-protocol.ts';
import type { DeskSafeStorage } from './electron-api.ts';

/** The backends on Linux that keep a password of their own; `basic_text` has one that everybody knows. */
const linuxBackends: ReadonlySet<string> = new Set(['gnome_libsecret', 'kwallet', 'kwallet5', 'kwallet6']);

/**
 * The keychain of this system through Electron (`charon.md` §2): Keychain on macOS, DPAPI on Windows, Secret Service or KWallet on
 * Linux, and never its `basic_text` (E30). Asked after Electron is ready only.
 */
export function systemKeychain(safeStorage: DeskSafeStorage, platform: NodeJS.Platform): Keychain {
  const whyUnavailable = (): string | undefined => {
    if (platform === 'linux' && !linuxBackends.has(safeStorage.getSelectedStorageBackend()))
      return 'This desktop has no keychain that keeps a password of its own (Secret Service or KWallet).';
    if (safeStorage.isEncryptionAvailable()) return undefined;
    return 'The keychain of this system is locked or missing. Unlock it and start Memory Git again.';
  };
  const whenAvailable = async (work: () => string): Promise<string> => {
    const reason = whyUnavailable();
    if (reason !== undefined) throw new Fault('KEYCHAIN_UNAVAILABLE', reason);
    try {
      return work();
    } catch (thrown) {
      throw new Fault(
        'KEYCHAIN_UNAVAILABLE',
        'The keychain of this system refused. Unlock it, then try again.',
        {},
        { cause: thrown },
      );
    }
  };
  return {
    whyUnavailable: async () => whyUnavailable(),
    seal: (text) => whenAvailable(() => safeStorage.encryptString(text).toString('base64')),
    unseal: (sealed) => whenAvailable(() => safeStorage.decryptString(Buffer.from(sealed, 'base64'))),
  };
}

/** Answers one question of the engine. Never rejects; a refusal holds nothing of what was asked. */
export async function answerFrom(keychain: Keychain, ask: KeychainAsk): Promise<KeychainAnswer> {
  try {
    switch (ask.kind) {
      case 'available': {
        const reason = await keychain.whyUnavailable();
        return reason === undefined ? { ok: true, text: '' } : { ok: false, reason };
      }
      case 'seal':
        return { ok: true, text: await keychain.seal(ask.text) };
      case 'unseal':
        return { ok: true, text: await keychain.unseal(ask.text) };
      default:
        return assertNever(ask, 'the engine asks three things of the keychain');
    }
  } catch (thrown) {
    return { ok: false, reason: toFault(thrown).message };
  }
}
