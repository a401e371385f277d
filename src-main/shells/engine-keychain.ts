import { Fault } from '../base/fault.ts';
import type { Keychain } from '../home/keychain.ts';
import type { KeychainAnswer, KeychainAsk } from './engine-protocol.ts';

/** The keychain of the process that hosts this thread, asked by message. */
export interface HostKeychain extends Keychain {
  /** Takes the answer to one question. */
  receive(id: number, answer: KeychainAnswer): void;
}

/** Reaches the keychain of the shell that hosts the engine; `send` carries a question to it. */
export function hostKeychain(send: (id: number, ask: KeychainAsk) => void): HostKeychain {
  const waiting = new Map<number, (answer: KeychainAnswer) => void>();
  let nextId = 1;
  const question = (ask: KeychainAsk): Promise<KeychainAnswer> =>
    new Promise((resolve) => {
      const id = nextId++;
      waiting.set(id, resolve);
      send(id, ask);
    });
  const text = async (ask: KeychainAsk): Promise<string> => {
    const answer = await question(ask);
    if (answer.ok) return answer.text;
    throw new Fault('KEYCHAIN_UNAVAILABLE', answer.reason);
  };
  return {
    whyUnavailable: async () => {
      const answer = await question({ kind: 'available' });
      return answer.ok ? undefined : answer.reason;
    },
    seal: (plain) => text({ kind: 'seal', text: plain }),
    unseal: (sealed) => text({ kind: 'unseal', text: sealed }),
    receive: (id, answer) => {
      waiting.get(id)?.(answer);
      waiting.delete(id);
    },
  };
}
