import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { walkProjectEvents } from '../../src-main/lethe/events.ts';
import { letheMigrations } from '../../src-main/lethe/migrations/migrations.ts';
import { extendBaseline, toBaselineEvent } from '../../src-main/lethe/projection/baseline.ts';
import { extendProjection, type WhenUndecided } from '../../src-main/lethe/projection/extend.ts';
import { defaultPageOptions, type PageOptions } from '../../src-main/lethe/projection/pages.ts';
import { eventTypes } from '../../src-main/lethe/rules/event-fields.ts';
import type { ReplayedChangeset } from '../../src-main/lethe/rules/replay.ts';
import type { ReplayedEvent } from '../../src-main/lethe/rules/replay-ops.ts';
import { insertChangesetRow, insertParents } from '../../src-main/lethe/tables/changesets.ts';
import { type EventRow, toFields } from '../../src-main/lethe/tables/events.ts';
import { insertOps } from '../../src-main/lethe/tables/ops.ts';
import type { Connection } from '../../src-main/sqlite/driver.ts';
import { openStore } from '../../src-main/sqlite/open.ts';
import type { Op } from '../../src-preload/contract/changeset.ts';
import { projectIdSchema } from '../../src-preload/contract/ids.ts';
import { emptyStore } from '../support/history-builder.ts';
import { type LegacyEvent, writeLegacyEvents } from '../support/legacy-events.ts';

export const historyProject = projectIdSchema.parse('fuzz');

/** An op without its ordinal, as a test writes it. */
export type OpDraft = Omit<Op, 'ordinal'>;

/** A history in a real database, written through the tables and the index alone, many changesets a transaction. */
export interface HistoryStore {
  readonly db: Connection;
  /** The same history in memory, for the from-scratch twin. */
  readonly history: Map<number, ReplayedChangeset>;
  /** Writes one changeset and answers its number. A merge that leaves memories undecided is refused unless it may override. */
  commit(parents: readonly number[], ops: readonly OpDraft[], whenUndecided?: WhenUndecided): number;
  /** Does work after which the store and the history in memory are what they were before. */
  undoing<Result>(work: () => Result): Result;
  idOf(seq: number): string;
  close(): void;
}

/**
 * Opens an empty history with one project and no root. The page options are forced small by those who test pages.
 * @param events how many events the first changeset freezes, if it has no ops
 */
export function openHistoryStore(options: PageOptions = defaultPageOptions, events = 0): HistoryStore {
  const folder = mkdtempSync(join(tmpdir(), 'memory-git-history-'));
  writeFileSync(join(folder, 'lethe.db'), emptyStore(), { mode: 0o600 });
  const db = openStore(join(folder, 'lethe.db'), letheMigrations, { nowMs: () => 1_800_000_000_000 });
  const history = new Map<number, ReplayedChangeset>();
  db.exec('BEGIN IMMEDIATE');
  const at = '2027-01-15T08:00:00Z';
  db.command<[string, string, string, string]>(
    'INSERT INTO memory_projects (project_id, name, created_at, updated_at) VALUES (?, ?, ?, ?)',
  ).run(historyProject, historyProject, at, at);
  writeLegacyEvents(db, legacyEvents(events));
  const frozen = [...walkProjectEvents(db, historyProject, at)];
  let count = 0;
  return {
    db,
    history,
    idOf: (seq) => history.get(seq)?.changesetId ?? '',
    undoing: (work) => {
      const before = count;
      db.exec('SAVEPOINT undoing');
      try {
        return work();
      } finally {
        db.exec('ROLLBACK TO undoing; RELEASE undoing');
        for (const seq of [...history.keys()].slice(before)) history.delete(seq);
        count = before;
      }
    },
    commit: (parents, drafts, whenUndecided = 'refuse') => {
      count += 1;
      const changesetId = `00000000-0000-7000-8000-${count.toString(16).padStart(12, '0')}`;
      const ops = drafts.map((draft, ordinal) => ({ ...draft, ordinal }));
      const seq = insertChangesetRow(db, {
        changeset_id: changesetId,
        schema_version: 'memory_git/v1',
        project_id: historyProject,
        ref_name: 'refs/topics/fuzz',
        author_principal: 'principal_00000000000000aa',
        persona_id: '',
        actor_id: '',
        surface: '',
        model: '',
        environment: '',
        session_id: '',
        topic_id: '',
        context_manifest_id: null,
        message: `changeset ${count}`,
        created_at: at,
        created_ms: 1_800_000_000_000 + count,
        idempotency_key: `key-${count}`,
        is_root: 0,
        op_count: ops.length,
        expected_seq: null,
        integrity_digest: '0'.repeat(64),
        request_digest: '',
        chain_digest: '0'.repeat(64),
      });
      insertParents(db, seq, parents);
      insertOps(db, seq, ops);
      if (count === 1 && events > 0) {
        extendBaseline(db, { seq, projectId: historyProject }, frozen.map(toBaselineEvent), options);
        history.set(seq, { changesetId, parents, ops, baseline: frozen.map(toReplayed) });
        return seq;
      }
      extendProjection(
        db,
        { seq, projectId: historyProject, changesetId, parents, ops },
        { pages: options, whenUndecided },
      );
      history.set(seq, { changesetId, parents, ops });
      return seq;
    },
    close: () => {
      if (db.inTransaction) db.exec('COMMIT');
      db.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Events of every type, some alike in their moment, some without text. */
function* legacyEvents(count: number): IterableIterator<LegacyEvent> {
  for (let index = 0; index < count; index += 1) {
    yield {
      event_id: `event-${index}`,
      project_id: historyProject,
      created_at: `2026-01-01T00:00:0${index % 4}${index % 3 === 0 ? '.5' : ''}Z`,
      event_type: eventTypes[index % eventTypes.length] ?? 'log',
      content: index % 7 === 5 ? ' ' : `event ${index}`,
      tags: index % 2 === 0 ? '["a","b"]' : '',
      confidence: index % 3 === 1 ? 0.5 : null,
    };
  }
}

function toReplayed(event: EventRow): ReplayedEvent {
  return { ...toFields(event), eventId: event.event_id };
}

/** Looks at a changeset that is not made, in the history that is held in memory alone. */
export function tentatively<Result>(
  store: HistoryStore,
  parents: readonly number[],
  look: (head: number) => Result,
): Result {
  const head = Math.max(...store.history.keys()) + 1;
  store.history.set(head, { changesetId: 'tentative', parents, ops: [] });
  try {
    return look(head);
  } finally {
    store.history.delete(head);
  }
}
