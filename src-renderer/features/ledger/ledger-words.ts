import type { CommandOutput } from '../../../src-preload/contract/commands/table.ts';
import type { LedgerChange, LedgerState, LedgerVersion } from '../../../src-preload/contract/ledger.ts';
import { shortId } from '../../ui/words.ts';

/** An agent with a history in the ledger. */
export type LedgerAgent = CommandOutput<'ledger.agents'>['agents'][number];

/** An agent's name, or what there is instead. */
export function nameOfAgent({ name, agent_id: agentId }: Pick<LedgerAgent, 'name' | 'agent_id'>): string {
  return name ?? `agent ${shortId(agentId)}`;
}

const absences: Readonly<Record<Extract<LedgerState, { kind: 'absent' }>['reason'], string>> = {
  not_yet: 'There was nothing under this key yet.',
  deleted: 'Deleted: the key held nothing.',
  expired: 'Its time was over: the key held nothing.',
  redacted: 'The value was taken out; its digest stands.',
};

/** Why a key held nothing. */
export function absenceWords(state: Extract<LedgerState, { kind: 'absent' }>): string {
  return absences[state.reason];
}

/** "put", "deleted", "expired" with its colour. */
export function versionWords(version: LedgerVersion): { readonly text: string; readonly tone: string } {
  switch (version.kind) {
    case 'put':
      return { text: version.redacted ? 'put, redacted' : 'put', tone: 'added' };
    case 'delete':
      return { text: 'deleted', tone: 'removed' };
    case 'expire':
      return { text: 'expired', tone: 'noted' };
  }
}

/** "derived from v2 to v5"; undefined for a version that declares nothing. */
export function derivedWords(version: LedgerVersion): string | undefined {
  if (version.kind !== 'put' || version.derived_from === undefined) return undefined;
  const { start_version: start, end_version: end } = version.derived_from;
  return start === end ? `derived from v${start}` : `derived from v${start} to v${end}`;
}

/** A JSON pointer as people read it: "theme / dark"; the whole value for an empty one. */
export function pathWords(path: string): string {
  if (path === '') return 'the whole value';
  return path
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join(' / ');
}

/** The two sides of a change as text. */
export function changeSides(change: LedgerChange): { readonly before: string; readonly after: string } {
  return {
    before: change.kind === 'added' ? '' : pretty(change.before),
    after: change.kind === 'removed' ? '' : pretty(change.after),
  };
}

/** JSON as it is read: indented, texts alone without quotes. */
export function pretty(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
}

/** One version in the drawing: where it stands, and the range that it was derived from, as places. */
export interface DrawnVersion {
  readonly version: number;
  readonly x: number;
  readonly kind: LedgerVersion['kind'];
  readonly from: { readonly x1: number; readonly x2: number } | undefined;
}

/** Versions as dots on a line, oldest first, `step` apart; ranges are cut to what is drawn. */
export function drawVersions(versions: readonly LedgerVersion[], step: number): readonly DrawnVersion[] {
  const ordered = versions.toSorted((one, other) => one.version - other.version);
  const xOf = new Map(ordered.map(({ version }, index) => [version, step / 2 + index * step]));
  return ordered.map((version) => {
    const range = version.kind === 'put' ? version.derived_from : undefined;
    const inside =
      range === undefined ? [] : ordered.filter(({ version: n }) => n >= range.start_version && n <= range.end_version);
    const [first, last] = [inside[0], inside.at(-1)];
    return {
      version: version.version,
      x: xOf.get(version.version) ?? 0,
      kind: version.kind,
      from:
        first === undefined || last === undefined
          ? undefined
          : { x1: xOf.get(first.version) ?? 0, x2: xOf.get(last.version) ?? 0 },
    };
  });
}
