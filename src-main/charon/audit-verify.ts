import { setImmediate as nextTick } from 'node:timers/promises';
import type { AuditEntry, VerifyReport } from '../../src-preload/contract/audit.ts';
import type { ReadableDb } from '../sqlite/driver.ts';
import { anchorSize, readAnchorLines } from './audit-anchor.ts';
import { isActOfPower } from './rules/act-of-power.ts';
import { parseAnchorLine } from './rules/anchor-line.ts';
import { type AuditHead, ambiguousOutcome, checkEntry, type EntryProblem, emptyHead } from './rules/audit-entry.ts';
import { listActSeqs } from './tables/acts.ts';
import { type AnchorState, anchorState } from './tables/anchor-state.ts';
import { findAuditHash, type ScannedEntry, scanAuditEntries } from './tables/audit-entries.ts';
import { listOpenIntents } from './tables/open-intents.ts';

const entriesPerChunk = 500;
const findingsMax = 100;

/** What a verification looks at. */
export interface LedgerVerification {
  readonly db: ReadableDb;
  /** MAC keys at hand, by id. */
  readonly keys: ReadonlyMap<string, Buffer>;
  readonly anchorPath: string;
  /** The entry that a running ledger has just brought its anchor to; 0 when nothing runs. */
  readonly anchoredSeq: number;
  /** What a running ledger has written to its anchor by now; left out, what the database knows of that, which may lag. */
  readonly written?: AnchorState | undefined;
}

const problems = {
  seq: 'an entry is missing before this one',
  prev_hash: 'does not follow the entry before it',
  entry_hash: 'was changed: its hash does not hold',
  mac: 'was changed and hashed anew: its MAC does not hold',
  mac_key_absent: 'its MAC key is not at hand, after entries whose key is',
} as const satisfies Record<EntryProblem, string>;

/** What a walk along the chain has found so far. */
interface Walk {
  head: AuditHead;
  checked: number;
  unverifiable: number;
  sawKey: boolean;
  /** The MAC key of the last entry, and those that were replaced before it. */
  keyId: string | undefined;
  readonly replaced: Set<string>;
  readonly findings: { where: string; problem: string }[];
  readonly open: Map<string, number[]>;
}

/**
 * Checks chain, MACs and anchor from the first entry on (`charon.md` §6), in chunks between which others work. The first
 * bad entry is the first finding. Never throws for what it finds; reads nothing but the ledger.
 */
export async function verifyLedger(options: LedgerVerification): Promise<VerifyReport> {
  const walk: Walk = {
    head: emptyHead,
    checked: 0,
    unverifiable: 0,
    sawKey: false,
    keyId: undefined,
    replaced: new Set(),
    findings: [],
    open: new Map(),
  };
  const anchor = anchorCheck(walk);
  const known = options.written ?? anchorState(options.db);
  const size = await anchorSize(options.anchorPath);
  const lines = readAnchorLines(options.anchorPath, size ?? 0);
  for (;;) {
    const rows = scanAuditEntries(options.db, walk.head.seq, entriesPerChunk);
    checkActs(walk, options.db, rows);
    if (rows.length === 0) break;
    const hashes = new Map<number, string>();
    for (const row of rows) {
      checkRow(walk, row.seq, row.entry, options.keys);
      hashes.set(walk.head.seq, walk.head.hash);
    }
    await anchor.compareUpTo(lines, walk.head.seq, hashes);
    await nextTick();
  }
  checkOpenIntents(walk, options.db);
  await anchor.finish(lines, options.db);
  checkAnchorLength(walk, { known, size, lastSeq: anchor.lastSeq(), anchoredSeq: options.anchoredSeq });
  return report(walk);
}

function checkRow(walk: Walk, seq: number, entry: AuditEntry | undefined, keys: ReadonlyMap<string, Buffer>): void {
  walk.checked += 1;
  const where = `seq ${seq}`;
  if (entry === undefined) {
    add(walk, where, 'cannot be read');
    walk.head = { seq, hash: '' };
    return;
  }
  const problem = checkEntry(entry, walk.head, keys);
  if (problem === 'mac_key_absent' && !walk.sawKey) walk.unverifiable += 1;
  else if (problem !== undefined) add(walk, where, problems[problem]);
  walk.sawKey ||= keys.has(entry.mac_key_id);
  followKey(walk, where, entry);
  trackIntent(walk, entry);
  walk.head = { seq, hash: entry.entry_hash };
}

/** A MAC key begins with an entry that says so, and one that was replaced never comes back. */
function followKey(walk: Walk, where: string, { mac_key_id: keyId, command }: AuditEntry): void {
  if (walk.keyId === keyId) return;
  if (walk.keyId !== undefined) {
    if (command !== 'audit.key_started') add(walk, where, 'a new MAC key begins without saying so');
    if (walk.replaced.has(keyId)) add(walk, where, 'a MAC key that was replaced is used again');
    walk.replaced.add(walk.keyId);
  }
  walk.keyId = keyId;
}

function trackIntent(walk: Walk, entry: AuditEntry): void {
  if (entry.phase === 'outcome') {
    if (entry.outcome !== ambiguousOutcome) walk.open.delete(entry.correlation_id);
    return;
  }
  const same = walk.open.get(entry.correlation_id);
  if (same === undefined) walk.open.set(entry.correlation_id, [entry.seq]);
  else same.push(entry.seq);
}

/** The list of acts of power must be the one that follows from the entries: here, of one chunk of them, or of none after the last. */
function checkActs(walk: Walk, db: ReadableDb, rows: readonly ScannedEntry[]): void {
  const beforeSeq = (rows.at(-1)?.seq ?? Number.MAX_SAFE_INTEGER - 1) + 1;
  const listed = listActSeqs(db, { afterSeq: walk.head.seq, beforeSeq }, rows.length + 1).toReversed();
  const derived = rows.filter(({ entry }) => entry !== undefined && isActOfPower(entry)).map(({ seq }) => seq);
  if (listed.join() !== derived.join())
    add(walk, `acts of power after seq ${walk.head.seq}`, 'the list of them does not follow from the entries');
}

/** The list of intents without an outcome must be the one that follows from the entries. */
function checkOpenIntents(walk: Walk, db: ReadableDb): void {
  const listed = listOpenIntents(db).map((intent) => intent.seq);
  const derived = [...walk.open.values()].flat().sort((left, right) => left - right);
  if (listed.join() !== derived.join())
    add(walk, 'open intents', 'the list of intents without an outcome does not follow from the entries');
}

interface AnchorCheck {
  compareUpTo(lines: AsyncGenerator<string>, seq: number, hashes: ReadonlyMap<number, string>): Promise<void>;
  finish(lines: AsyncGenerator<string>, db: ReadableDb): Promise<void>;
  lastSeq(): number;
}

/** Walks the anchor beside the chain: both ascend, so neither is held in memory. */
function anchorCheck(walk: Walk): AnchorCheck {
  let ahead: AuditHead | undefined;
  let lastSeq = 0;
  const next = async (lines: AsyncGenerator<string>): Promise<AuditHead | undefined> => {
    for (;;) {
      const line = await lines.next();
      if (line.done === true) return undefined;
      const parsed = parseAnchorLine(line.value);
      if (parsed !== undefined && parsed.seq > lastSeq) {
        lastSeq = parsed.seq;
        return parsed;
      }
      add(walk, 'anchor', `a line after seq ${lastSeq} cannot be read or does not ascend`);
      if (walk.findings.length >= findingsMax) return undefined;
    }
  };
  return {
    lastSeq: () => lastSeq,
    compareUpTo: async (lines, seq, hashes) => {
      ahead ??= await next(lines);
      while (ahead !== undefined && ahead.seq <= seq) {
        if (hashes.get(ahead.seq) !== ahead.hash)
          add(walk, `anchor, seq ${ahead.seq}`, 'the ledger holds another entry here than the anchor recorded');
        ahead = await next(lines);
      }
    },
    finish: async (lines, db) => {
      ahead ??= await next(lines);
      const known = ahead && findAuditHash(db, ahead.seq);
      if (ahead !== undefined && known !== ahead.hash)
        add(
          walk,
          `anchor, seq ${ahead.seq}`,
          'the anchor records an entry that the ledger does not have: the ledger was cut or replaced',
        );
      await lines.return(undefined);
    },
  };
}

function checkAnchorLength(
  walk: Walk,
  anchor: {
    readonly known: AnchorState;
    readonly size: number | undefined;
    readonly lastSeq: number;
    readonly anchoredSeq: number;
  },
): void {
  const { known, size, lastSeq, anchoredSeq } = anchor;
  if (size === undefined) {
    if (walk.checked > 0) add(walk, 'anchor', 'the anchor file is missing');
  } else if (size < known.bytes) {
    add(walk, 'anchor', 'the anchor file is shorter than what was written to it');
  } else if (lastSeq < known.lastSeq) {
    add(walk, 'anchor', `the anchor ends at seq ${lastSeq}, before seq ${known.lastSeq} that was written to it`);
  } else if (lastSeq < anchoredSeq) {
    add(walk, 'anchor', `the anchor ends at seq ${lastSeq} and could not be brought to seq ${anchoredSeq}`);
  }
}

function add(walk: Walk, where: string, problem: string): void {
  if (walk.findings.length < findingsMax) walk.findings.push({ where, problem });
}

function report(walk: Walk): VerifyReport {
  const notes: string[] = [];
  if (walk.unverifiable > 0) notes.push(`${walk.unverifiable} entries: MAC not verifiable, key absent`);
  if (walk.findings.length === findingsMax) notes.push(`only the first ${findingsMax} findings are listed`);
  return {
    ok: walk.findings.length === 0,
    checked: walk.checked,
    head: `${walk.head.seq} ${walk.head.hash}`,
    findings: walk.findings,
    notes,
  };
}
