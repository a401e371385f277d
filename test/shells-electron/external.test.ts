import { describe, expect, test } from 'vitest';
import { openExternal, toExternalAddress } from '../../src-main/shells/electron/external.ts';
import { findLink, parseLink } from '../../src-main/shells/electron/links.ts';
import { StandInDialog, StandInShell } from '../support/electron-stand-in.ts';

const id = '0198c0de-0000-7000-8000-000000000001';

describe('web addresses', () => {
  test.each([
    'http://example.org/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'data:text/html,x',
    'memorygit://proposal/x',
    'smb://host/share',
    'ms-settings:',
    'https://',
    'https://user@example.org/',
    'https://user:pass@example.org/',
    'example.org',
    '',
    `https://example.org/${'x'.repeat(2_048)}`,
  ])('E8 %s may not be opened', async (address) => {
    const dialog = new StandInDialog();
    const shell = new StandInShell();
    dialog.answer = 1;
    expect(await openExternal(address, { dialog, shell })).toBe(false);
    expect(dialog.shown).toEqual([]);
    expect(shell.opened).toEqual([]);
  });

  test('E8 the owner sees the whole address, and the safe button is the default', async () => {
    const dialog = new StandInDialog();
    const shell = new StandInShell();
    expect(await openExternal('https://example.org/a?b=c#d', { dialog, shell })).toBe(false);
    expect(shell.opened).toEqual([]);
    expect(dialog.shown).toHaveLength(1);
    expect(dialog.shown[0]).toMatchObject({
      detail: 'https://example.org/a?b=c#d',
      defaultId: 0,
      cancelId: 0,
      buttons: ['Cancel', 'Open in browser'],
    });
  });

  test('E8 after a yes exactly the address that was shown is opened', async () => {
    const dialog = new StandInDialog();
    const shell = new StandInShell();
    dialog.answer = 1;
    expect(await openExternal('HTTPS://exämple.org/\n', { dialog, shell })).toBe(true);
    expect(shell.opened).toEqual(['https://xn--exmple-cua.org/']);
    expect(dialog.shown[0]?.detail).toBe(shell.opened[0]);
  });

  test('E8 a name in foreign letters is shown as it really is', () => {
    expect(toExternalAddress('https://аpple.com/')).toBe('https://xn--pple-43d.com/');
  });
});

describe('deep links', () => {
  test('E9 a proposal’s link leads to the proposal', () => {
    expect(parseLink(`memorygit://proposal/${id}`)).toBe(`/inbox/${id}`);
    expect(parseLink(`memorygit://proposal/${id}/`)).toBe(`/inbox/${id}`);
  });

  test.each([
    '',
    'memorygit://',
    'memorygit://proposal/',
    'memorygit://proposal/1',
    `memorygit://proposal/${id}/merge`,
    `memorygit://proposal/${id}?approve=1`,
    `memorygit://proposal/${id}#x`,
    `memorygit://proposal/../${id}`,
    `memorygit://merge/${id}`,
    `memorygit:proposal/${id}`,
    `MEMORYGIT://proposal/${id}`,
    `memorygit://proposal/${id.toUpperCase()}`,
    `memorygit://proposal/${id} `,
    `x memorygit://proposal/${id}`,
    `memorygit://proposal/${'-'.repeat(36)}`,
    `https://proposal/${id}`,
  ])('E9 %j leads nowhere', (text) => {
    expect(parseLink(text)).toBeUndefined();
  });

  test('E9 a link among the arguments of a start is found', () => {
    expect(findLink(['electron', '.', '--home', '/x', `memorygit://proposal/${id}`])).toBe(`/inbox/${id}`);
    expect(findLink(['electron', '.', '--home', '/x'])).toBeUndefined();
  });
});
