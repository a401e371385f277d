import { isBlank, lowerSimple, trimWhiteSpace } from '../../src-main/canonical/text.ts';
import type { Replay, ReplayedTouch } from '../../src-main/lethe/rules/replay.ts';
import type { ReplayedEntry } from '../../src-main/lethe/rules/replay-merge.ts';
import type { ReplayedAttachment, ReplayedMemory, ReplayedState } from '../../src-main/lethe/rules/replay-ops.ts';
import type { JsonValue } from '../../src-preload/contract/json.ts';
import { type HistoryStore, historyProject } from './history-store.ts';
import { bereftOf } from './stand-ins.ts';

/** A finding as both sides of the comparison say it: what it is about, and the memories that it names. */
export interface SaidFinding {
  readonly type: string;
  readonly about: string;
  readonly memoryIds: readonly string[];
}

type States = ReadonlyMap<string, ReplayedState>;

/** Two sides and what they share, each as a plain map of all of its memories. */
interface Sides {
  readonly left: States;
  readonly right: States;
  readonly common: States;
  readonly union: States;
  readonly leftOwn: ReadonlySet<string>;
  readonly rightOwn: ReadonlySet<string>;
}

/**
 * Detection from scratch (`L179`): whole states, every memory with every other one, as the rules say it and not as the store
 * does it.
 */
export function detectFromScratch(
  store: HistoryStore,
  replay: Replay,
  left: number,
  right: number,
): readonly SaidFinding[] {
  const sides = openSides(replay, left, right);
  const found: SaidFinding[] = [];
  const named = new Set<string>();
  const say = (type: string, about: string, memoryIds: readonly string[]): void =>
    void found.push({ type, about, memoryIds });
  for (const id of sides.leftOwn) {
    const type = sides.rightOwn.has(id) ? threeWay(sides, id) : undefined;
    if (type === undefined) continue;
    named.add(id);
    say(type, id, [id]);
  }
  for (const stays of bereftOf(store, left, right)) {
    if ([...chainAt(sides.left, stays), ...chainAt(sides.right, stays)].some((id) => named.has(id))) continue;
    const id = standingFor(sides, stays);
    named.add(id);
    say('delete_modify', id, [id]);
  }
  comparePairs(sides, say);
  const [onLeft, onRight] = [replay.at(left).changesets, replay.at(right).changesets];
  const own = [...onLeft.filter((seq) => !onRight.includes(seq)), ...onRight.filter((seq) => !onLeft.includes(seq))];
  for (const seq of own) judgeOps(store, replay, seq, say);
  return joined(found);
}

type Say = (type: string, about: string, memoryIds: readonly string[]) => void;

function openSides(replay: Replay, leftSeq: number, rightSeq: number): Sides {
  const [left, right] = [replay.at(leftSeq), replay.at(rightSeq)];
  const onLeft = new Set(left.changesets);
  const onRight = new Set(right.changesets);
  const shared = left.changesets.filter((seq) => onRight.has(seq)).toSorted((one, other) => one - other);
  const common = new Map<string, ReplayedState>();
  for (const seq of shared) for (const touch of byKey(replay.touchesOf(seq))) common.set(touch.memory, touch.state);
  const union = new Map<string, ReplayedEntry>();
  for (const [id, entry] of [...left.states, ...right.states]) {
    const known = union.get(id);
    if (known === undefined || known.key < entry.key) union.set(id, entry);
  }
  const own = (states: ReadonlyMap<string, ReplayedEntry>, other: ReadonlySet<number>): ReadonlySet<string> =>
    new Set([...states].filter(([, { seq }]) => !other.has(seq)).map(([id]) => id));
  const plain = (states: ReadonlyMap<string, ReplayedEntry>): States =>
    new Map([...states].map(([id, { state }]) => [id, state]));
  return {
    left: plain(left.states),
    right: plain(right.states),
    common,
    union: plain(union),
    leftOwn: own(left.states, onRight),
    rightOwn: own(right.states, onLeft),
  };
}

const byKey = (touches: readonly ReplayedTouch[]): readonly ReplayedTouch[] =>
  touches.toSorted((one, other) => one.key - other.key);

function isLive(state: ReplayedState | undefined): boolean {
  return state?.memory.active === true && !isBlank(state.memory.content);
}

function threeWay({ left, right, common }: Sides, id: string): string | undefined {
  const [one, other] = [left.get(id), right.get(id)];
  if (one === undefined || other === undefined) return undefined;
  const heirOf = (state: ReplayedState): string | undefined => (isLive(state) ? undefined : state.heir);
  const isSame =
    isLive(one) === isLive(other) && heirOf(one) === heirOf(other) && meaningOf(one.memory) === meaningOf(other.memory);
  if (isSame) return undefined;
  if (!common.has(id)) return 'identity_collision';
  return isLive(one) === isLive(other) ? 'concurrent_edit' : 'delete_modify';
}

function meaningOf({ active: _, introduced, last, evidence, verification, ...said }: ReplayedMemory): string {
  const list = (newest: ReplayedAttachment | undefined): readonly JsonValue[] =>
    newest === undefined ? [] : [...list(newest.previous), newest.payload];
  return sorted({ ...said, evidence: list(evidence), verification: list(verification) });
}

function statementOf({ active: _, introduced, last, evidence, verification, status, ...said }: ReplayedMemory): string {
  return sorted({ ...said });
}

function sorted(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  );
}

/** A memory and what it became, up to the first live one. */
function chainAt(states: States, memory: string): ReadonlySet<string> {
  const followed = new Set<string>();
  for (let one: string | undefined = memory; one !== undefined && !followed.has(one); ) {
    followed.add(one);
    one = isLive(states.get(one)) ? undefined : states.get(one)?.heir;
  }
  return followed;
}

/** The first live one of a memory and what it became. */
function heirAt(states: States, memory: string): string | undefined {
  return [...chainAt(states, memory)].find((one) => isLive(states.get(one)));
}

function standingFor({ left, right }: Sides, stays: string): string {
  for (const [own, other] of [
    [left, right],
    [right, left],
  ] as const) {
    const heir = heirAt(own, stays);
    if (heir !== undefined && other.has(heir) && !isLive(other.get(heir))) return heir;
  }
  return stays;
}

/** Every memory of every position with every other one of the other positions. */
function comparePairs(sides: Sides, say: Say): void {
  const { left, right, common, leftOwn, rightOwn } = sides;
  const isChanged = (states: States, own: ReadonlySet<string>, id: string): boolean => {
    if (!own.has(id)) return false;
    const [before, after] = [common.get(id), states.get(id)];
    if (!isLive(before) || !isLive(after)) return isLive(before) || isLive(after);
    return before === undefined || after === undefined || statementOf(before.memory) !== statementOf(after.memory);
  };
  const ids = [...new Set([...left.keys(), ...right.keys()])];
  const pick = (states: States, wanted: (id: string) => boolean): readonly ReplayedMemory[] =>
    ids.flatMap((id) => {
      const state = states.get(id);
      return state !== undefined && isLive(state) && wanted(id) ? [state.memory] : [];
    });
  const ours = pick(left, (id) => isChanged(left, leftOwn, id));
  const theirs = pick(right, (id) => isChanged(right, rightOwn, id));
  const both = pick(common, (id) => !isChanged(left, leftOwn, id) && !isChanged(right, rightOwn, id));
  const becomes = (from: string, to: string, states: States, own: ReadonlySet<string>): boolean =>
    own.has(from) && !isLive(states.get(from)) && heirAt(states, from) === to;
  for (const one of ours) {
    for (const other of theirs) {
      const [from, to] = [one.memoryId, other.memoryId];
      if (!becomes(from, to, right, rightOwn) && !becomes(to, from, left, leftOwn)) judgePair(one, other, say);
    }
  }
  for (const one of both) for (const other of [...ours, ...theirs]) judgePair(one, other, say);
}

function judgePair(left: ReplayedMemory, right: ReplayedMemory, say: Say): void {
  if (left.memoryId === right.memoryId) return;
  const ids = [left.memoryId, right.memoryId];
  const contents = [left.content, right.content].toSorted().join('|');
  if (trimWhiteSpace(left.content) === trimWhiteSpace(right.content)) {
    say('duplicate_content', trimWhiteSpace(left.content), ids);
    return;
  }
  const shared = (key: string): string => (textOf(left, key) === textOf(right, key) ? textOf(left, key) : '');
  if (isDecision(left) && isDecision(right) && (shared('scope') !== '' || shared('subject') !== '')) {
    const graver = [left, right].some(
      ({ payload }) => payload.protected === true || payload.approval === 'user_approved',
    );
    say(
      graver ? 'protected_decision' : 'contradictory_decision',
      `${shared('scope')}|${ids.toSorted().join('|')}`,
      ids,
    );
  }
  const [ofLeft, ofRight] = [factOf(left), factOf(right)];
  if (ofLeft !== undefined && ofLeft === ofRight && isOverlapping(left, right))
    say('incompatible_fact', `${ofLeft}|${contents}`, ids);
}

function textOf({ payload }: ReplayedMemory, key: string): string {
  const value = payload[key];
  return typeof value === 'string' ? value : '';
}

function isDecision(memory: ReplayedMemory): boolean {
  return memory.kind === 'decision' || lowerSimple(memory.content).includes('decision:');
}

function factOf(memory: ReplayedMemory): string | undefined {
  const key = textOf(memory, 'fact_key') || textOf(memory, 'subject');
  return memory.kind === 'fact' && key !== '' ? `${key}|${textOf(memory, 'scope') || historyProject}` : undefined;
}

function isOverlapping(left: ReplayedMemory, right: ReplayedMemory): boolean {
  const endless = '\u{10ffff}';
  const from =
    [left, right]
      .map((memory) => textOf(memory, 'valid_from'))
      .toSorted()
      .at(-1) ?? '';
  const to = [left, right].map((memory) => textOf(memory, 'valid_to') || endless).toSorted()[0] ?? endless;
  const isEmpty = [left, right].some(
    (memory) => textOf(memory, 'valid_to') !== '' && textOf(memory, 'valid_from') > textOf(memory, 'valid_to'),
  );
  return isEmpty ? isCrossing(left, right) && isCrossing(right, left) : from <= to;
}

/** A validity that ends before it begins is compared end by end, as the rule says it. */
function isCrossing(one: ReplayedMemory, other: ReplayedMemory): boolean {
  return textOf(other, 'valid_to') === '' || textOf(one, 'valid_from') <= textOf(other, 'valid_to');
}

function judgeOps(store: HistoryStore, replay: Replay, seq: number, say: Say): void {
  const changeset = store.history.get(seq);
  const touches = replay.touchesOf(seq);
  for (const op of changeset?.ops ?? []) {
    const payload = op.payload ?? {};
    const at = changeset?.changesetId ?? '';
    const ids = touches.filter(({ key }) => key % 65_536 === op.ordinal).map(({ memory }) => memory);
    if (typeof payload.project_id === 'string' && payload.project_id !== historyProject)
      say('boundary_violation', `${at}|payload_project|${payload.project_id}`, ids);
    if (payload.from_visibility === 'private' && payload.to_visibility === 'public')
      say('scope_flow', `${at}|private|public|${op.op_type}`, ids);
    if (payload.from_visibility === 'shared' && payload.to_visibility === 'public')
      say('scope_flow', `${at}|shared|public|${op.op_type}`, ids);
    if (
      op.op_type === 'correct_memory' &&
      payload.target_trust === 'user_approved' &&
      payload.source_trust === 'inference'
    )
      say('trust_downgrade', `${at}|${op.target_event_id}`, ids);
  }
}

/** Each identity once, with every memory; of a pair of decisions only the graver finding. */
function joined(found: readonly SaidFinding[]): readonly SaidFinding[] {
  const byIdentity = Map.groupBy(found, ({ type, about }) => `${type} ${about}`);
  const all = [...byIdentity.values()].flatMap((same) => {
    const [first] = same;
    return first === undefined
      ? []
      : [{ ...first, memoryIds: [...new Set(same.flatMap(({ memoryIds }) => memoryIds))].toSorted() }];
  });
  const graver = new Set(all.filter(({ type }) => type === 'protected_decision').map(({ about }) => about));
  return all.filter(({ type, about }) => type !== 'contradictory_decision' || !graver.has(about));
}
