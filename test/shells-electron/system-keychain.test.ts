import { expect, test } from 'vitest';
import { answerFrom, systemKeychain } from '../../src-main/shells/electron/system-keychain.ts';
import { hostKeychain } from '../../src-main/shells/engine-keychain.ts';
import { StandInKeychain } from '../support/keychain-stand-in.ts';

/** The keychain as the engine has it: every question goes over the border and back. */
function acrossTheBorder(storage: StandInKeychain, platform: NodeJS.Platform) {
  const real = systemKeychain(storage, platform);
  const asked: string[] = [];
  const keychain = hostKeychain((id, ask) => {
    asked.push(ask.kind);
    void answerFrom(real, ask).then((answer) => keychain.receive(id, answer));
  });
  return { keychain, asked };
}

test('E22 the engine seals and unseals by message, and answers find their questions', async () => {
  const storage = new StandInKeychain();
  const { keychain, asked } = acrossTheBorder(storage, 'darwin');
  const texts = ['one', 'zwei', '{"three":3}'];
  const sealed = await Promise.all(texts.map((text) => keychain.seal(text)));
  expect(await Promise.all(sealed.map((text) => keychain.unseal(text)))).toEqual(texts);
  expect(await keychain.whyUnavailable()).toBeUndefined();
  expect(asked).toEqual(['seal', 'seal', 'seal', 'unseal', 'unseal', 'unseal', 'available']);
});

test.each(['basic_text', 'unknown'] as const)(
  'E23 on Linux %s is no keychain; elsewhere nobody asks for it',
  async (backend) => {
    const storage = new StandInKeychain();
    storage.backend = backend;
    const { keychain } = acrossTheBorder(storage, 'linux');
    expect(await keychain.whyUnavailable()).toMatch(/no keychain that keeps a password of its own/);
    await expect(keychain.seal('secret words')).rejects.toMatchObject({ code: 'KEYCHAIN_UNAVAILABLE' });
    await expect(keychain.unseal('AAAA')).rejects.toMatchObject({ code: 'KEYCHAIN_UNAVAILABLE' });
    expect(await acrossTheBorder(storage, 'win32').keychain.whyUnavailable()).toBeUndefined();
  },
);

test.each(['gnome_libsecret', 'kwallet', 'kwallet5', 'kwallet6'] as const)('E23 %s is one', async (backend) => {
  const storage = new StandInKeychain();
  storage.backend = backend;
  expect(await acrossTheBorder(storage, 'linux').keychain.whyUnavailable()).toBeUndefined();
});

test('E23 a keychain that is locked or breaks is said, without a word of what was asked', async () => {
  const storage = new StandInKeychain();
  const { keychain } = acrossTheBorder(storage, 'darwin');
  storage.onUse = () => {
    throw new Error('no: secret words');
  };
  for (const work of [() => keychain.seal('secret words'), () => keychain.unseal('c2VjcmV0IHdvcmRz')]) {
    await expect(work()).rejects.toMatchObject({ code: 'KEYCHAIN_UNAVAILABLE' });
    await expect(work()).rejects.not.toThrow(/secret|c2VjcmV0/);
  }
  storage.available = false;
  expect(await keychain.whyUnavailable()).toMatch(/locked or missing/);
});
