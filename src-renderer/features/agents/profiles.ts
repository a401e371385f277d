import type { AgentProfile, Obol } from '../../../src-preload/contract/principal.ts';

/** What a profile lets an agent do, in plain words; the first line is enough to choose by. */
export interface ProfileWords {
  readonly title: string;
  readonly does: string;
  readonly never: string;
}

export const profileWords: Readonly<Record<AgentProfile, ProfileWords>> = {
  propose: {
    title: 'Propose',
    does: 'Reads, branches, commits to its own branches and proposes.',
    never: 'Nothing reaches shared memory until you merge it. Right for almost every agent.',
  },
  readonly: {
    title: 'Read only',
    does: 'Reads and searches accepted memory.',
    never: 'Never writes anything.',
  },
  review: {
    title: 'Review',
    does: 'Reads, reviews and merges what others propose.',
    never: 'It can put memory into main without you. Never writes or proposes itself.',
  },
  write: {
    title: 'Write',
    does: 'As Propose, and commits straight to any unprotected branch. For operators.',
    never: 'Never reviews or merges.',
  },
};

export const profileOrder: readonly AgentProfile[] = ['propose', 'readonly', 'review', 'write'];

/** How long a token may live: days, or null for one that does not expire. */
export const lifeChoices = [
  { value: '7', label: '7 days', days: 7 },
  { value: '30', label: '30 days', days: 30 },
  { value: '90', label: '90 days', days: 90 },
  { value: 'never', label: 'Does not expire', days: null },
] as const;

/** The command line that connects Claude Code, ready to paste. */
export function claudeCodeCommand(mcpUrl: string, token: string): string {
  return `claude mcp add --transport http memory-git ${mcpUrl} --header "Authorization: Bearer ${token}" -s user`;
}

/** The entry for the configuration file of any client that speaks MCP over HTTP. */
export function clientConfig(mcpUrl: string, token: string): string {
  const server = { type: 'http', url: mcpUrl, headers: { Authorization: `Bearer ${token}` } };
  return JSON.stringify({ mcpServers: { 'memory-git': server } }, null, 2);
}

export type ObolState = 'active' | 'revoked' | 'expired' | 'waiting';

/** Whether a token still opens the door; `waiting` for the owner's word since a restore. `nowMs` is milliseconds since 1970. */
export function obolState(obol: Obol, nowMs: number): ObolState {
  if (obol.revoked_at !== null) return 'revoked';
  if (obol.expires_at !== null && Date.parse(obol.expires_at) <= nowMs) return 'expired';
  return obol.needs_reapproval === true ? 'waiting' : 'active';
}
