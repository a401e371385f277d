import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { lethe0002TextIndex } from '../../src-main/lethe/migrations/lethe-0002-text-index.ts';
import type { TextFilter } from '../../src-main/lethe/rules/relevance.ts';
import type { MemoryText } from '../../src-main/lethe/rules/segment.ts';
import type { HeadView, LiveState } from '../../src-main/lethe/text-candidates.ts';
import { indexPending, type PendingVersion } from '../../src-main/lethe/text-indexing.ts';
import { matchContext, searchMemories } from '../../src-main/lethe/text-search.ts';
import type { Connection, WritableDb } from '../../src-main/sqlite/driver.ts';
import { closeStore, openStore } from '../../src-main/sqlite/open.ts';

/** A state as the model's heads show it. */
export interface ModelState extends LiveState {
  readonly memory: number;
}

/**
 * A history of memory states that is small enough to be searched by hand: the model says what is alive at a head, the
 * database beside it holds nothing but the index.
 */
export interface TextModel {
  readonly db: Connection;
  /** How many states heads were asked for. */
  readonly asked: { states: number };
  /** Appends a state of a memory; null retires it. Returns the version number, `gap` above the last. */
  write(
    memory: number,
    text: Partial<MemoryText> | null,
    options?: { projectId?: string; branch?: string; gap?: number },
  ): number;
  /** The head of a branch: main's versions and its own, up to a version. */
  head(options?: { projectId?: string; branch?: string; upTo?: number }): HeadView<ModelState>;
  /** Every state alive at that head, newest first. */
  alive(view: HeadView<ModelState>): readonly ModelState[];
  /** Indexes what waits, at most so many versions; everything by default. */
  index(limit?: number): void;
  /** Runs a write in a transaction of its own. */
  transact<Result>(work: (db: WritableDb) => Result): Result;
  readonly source: (after: number, limit: number) => readonly PendingVersion[];
}

interface ModelVersion extends PendingVersion {
  readonly branch: string;
}

export function text(content: string, rest: Partial<MemoryText> = {}): MemoryText {
  return { content, kind: '', scope: '', tags: [], ...rest };
}

/** A new model over a real database in a temporary folder, gone when the test ends. */
export function openTextModel(): TextModel {
  const folder = mkdtempSync(join(tmpdir(), 'memory-git-text-'));
  const db = openStore(join(folder, 'lethe.db'), [lethe0002TextIndex], { nowMs: () => 0 });
  onTestFinished(() => {
    closeStore(db);
    rmSync(folder, { recursive: true });
  });
  const versions: ModelVersion[] = [];
  const byMemory = new Map<number, ModelVersion[]>();
  const asked = { states: 0 };

  const transact = <Result>(work: (writable: WritableDb) => Result): Result => {
    db.exec('BEGIN IMMEDIATE');
    try {
      const result = work(db);
      db.exec('COMMIT');
      return result;
    } catch (thrown) {
      db.exec('ROLLBACK');
      throw thrown;
    }
  };
  const source = (after: number, limit: number): readonly PendingVersion[] =>
    versions.filter((found) => found.version > after).slice(0, limit);

  const head: TextModel['head'] = ({ projectId = 'p', branch = 'main', upTo = versions.at(-1)?.version ?? 0 } = {}) => {
    const visible = (found: ModelVersion): boolean =>
      found.projectId === projectId && found.version <= upTo && (found.branch === 'main' || found.branch === branch);
    const findLive = (memory: number): ModelState | undefined => {
      asked.states += 1;
      const newest = (byMemory.get(memory) ?? []).findLast(visible);
      return newest === undefined || newest.text === null
        ? undefined
        : { version: newest.version, text: newest.text, memory };
    };
    const totalActive = [...byMemory.keys()].filter((memory) => {
      const newest = byMemory.get(memory)?.findLast(visible);
      return newest !== undefined && newest.text !== null;
    }).length;
    const listTail: HeadView<ModelState>['listTail'] = (after, limit) => {
      const tail = versions
        .filter((found) => found.version > after && found.version <= upTo && found.projectId === projectId)
        .toReversed();
      return { versions: tail.slice(0, limit), more: tail.length > limit };
    };
    return { projectId, upTo, totalActive, findLive, listTail };
  };

  return {
    db,
    asked,
    source,
    transact,
    write: (memory, fields, { projectId = 'p', branch = 'main', gap = 1 } = {}) => {
      const version = (versions.at(-1)?.version ?? 0) + gap;
      const found = { version, projectId, memory, branch, text: fields === null ? null : text('', fields) };
      versions.push(found);
      byMemory.set(memory, [...(byMemory.get(memory) ?? []), found]);
      return version;
    },
    head,
    alive: (view) => {
      const states = [...byMemory.keys()].map((memory) => view.findLive(memory)).filter((state) => state !== undefined);
      return states.sort((left, right) => right.version - left.version);
    },
    index: (limit) => {
      if (limit !== undefined) transact((writable) => indexPending(writable, source, limit));
      else while (transact((writable) => indexPending(writable, source, 300)));
    },
  };
}

export function search(
  model: TextModel,
  query: string,
  options: { view?: HeadView<ModelState>; filter?: TextFilter; offset?: number; limit?: number } = {},
) {
  const { view = model.head(), filter = {}, offset = 0, limit = 100 } = options;
  return searchMemories(model.db, view, { query, filter, offset, limit });
}

export function found(model: TextModel, query: string, options: Parameters<typeof search>[2] = {}): readonly number[] {
  return search(model, query, options).matches.map((match) => match.state.memory);
}

export function foundInContext(model: TextModel, query: string, view = model.head(), filter: TextFilter = {}) {
  return matchContext(model.db, view, query, filter).map(({ state, score }) => [state.memory, score]);
}
