import { describe, expect, test } from 'vitest';
import { findOutsideNode, npmCommand } from '../../scripts/lib/node.mjs';
import { withPath } from '../../scripts/lib/run.mjs';

const inside = '/app/node_modules';
const bundled = '/app/node_modules/node/bin/node';

describe('the Node to install with', () => {
  test('is the running one when that lies outside of node_modules', () => {
    expect(findOutsideNode({ inside, execPath: '/usr/bin/node', env: {}, platform: 'linux' })).toBe('/usr/bin/node');
  });

  test('is the one npm runs on when the running one is the bundled one', () => {
    const env = { npm_node_execpath: '/opt/node', PATH: '/usr/bin' };
    expect(findOutsideNode({ inside, execPath: bundled, env, platform: 'linux', exists: () => true })).toBe(
      '/opt/node',
    );
  });

  test('is found on the PATH otherwise, never in a node_modules folder', () => {
    const env = { npm_node_execpath: bundled, PATH: '/app/node_modules/.bin:/x/node_modules/.bin:/empty:/usr/bin' };
    const exists = (path: string) => path !== '/empty/node';
    expect(findOutsideNode({ inside, execPath: bundled, env, platform: 'linux', exists })).toBe('/usr/bin/node');
  });

  test('is null when there is none', () => {
    const env = { PATH: '/usr/bin' };
    expect(findOutsideNode({ inside, execPath: bundled, env, platform: 'linux', exists: () => false })).toBeNull();
  });
});

describe('npm', () => {
  test('is the one that runs us, on the given Node and without a shell', () => {
    const env = { npm_execpath: '/usr/lib/npm/bin/npm-cli.js' };
    expect(npmCommand({ node: '/n', env, platform: 'win32' })).toEqual({
      command: '/n',
      args: ['/usr/lib/npm/bin/npm-cli.js'],
      shell: false,
    });
  });

  test('is looked up when another program runs us', () => {
    const env = { npm_execpath: '/usr/lib/yarn.js' };
    expect(npmCommand({ node: '/n', env, platform: 'linux' })).toEqual({ command: 'npm', args: [], shell: false });
    expect(npmCommand({ node: '/n', env: {}, platform: 'win32' }).command).toBe('npm.cmd');
  });
});

test('the PATH of children begins with ours and keeps its one spelling', () => {
  expect(withPath({ Path: '/a', HOME: '/h' }, ['/x', '/y'])).toEqual({ Path: '/x:/y:/a', HOME: '/h' });
  expect(withPath({}, ['/x'])).toEqual({ PATH: '/x' });
});
