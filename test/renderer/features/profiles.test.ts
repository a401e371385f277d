import { expect, test } from 'vitest';
import { type Obol, obolSchema } from '../../../src-preload/contract/principal.ts';
import { claudeCodeCommand, clientConfig, obolState } from '../../../src-renderer/features/agents/profiles.ts';
import { ids, noon, noonMs } from '../fixtures.ts';

const obol = (rest: Partial<Record<keyof Obol, string | true | null>>): Obol =>
  obolSchema.parse({
    obol_id: '0123456789abcdef',
    principal_id: ids.agent,
    audience: 'urn:memory-git:x',
    created_at: noon,
    expires_at: null,
    revoked_at: null,
    last_used_at: null,
    last_client: null,
    last_tool: null,
    ...rest,
  });

test('a token is active until it is revoked or its time has passed', () => {
  expect(obolState(obol({}), noonMs)).toBe('active');
  expect(obolState(obol({ expires_at: noon }), noonMs - 1)).toBe('active');
  expect(obolState(obol({ expires_at: noon }), noonMs)).toBe('expired');
  expect(obolState(obol({ expires_at: noon, revoked_at: noon }), noonMs)).toBe('revoked');
  expect(obolState(obol({ needs_reapproval: true }), noonMs)).toBe('waiting');
  expect(obolState(obol({ needs_reapproval: true, revoked_at: noon }), noonMs)).toBe('revoked');
});

test('the command for Claude Code is ready to paste', () => {
  expect(claudeCodeCommand('http://127.0.0.1:18484/mcp', 'obol_a_b')).toBe(
    'claude mcp add --transport http memory-git http://127.0.0.1:18484/mcp --header "Authorization: Bearer obol_a_b" -s user',
  );
});

test('the configuration for any client is JSON that holds address and token', () => {
  expect(JSON.parse(clientConfig('http://127.0.0.1:1/mcp', 't'))).toEqual({
    mcpServers: {
      'memory-git': { type: 'http', url: 'http://127.0.0.1:1/mcp', headers: { Authorization: 'Bearer t' } },
    },
  });
});
