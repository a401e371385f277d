import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';

/** A relationship that an op added; its kind and payload are the op's. */
export interface RelationshipRow {
  readonly op: number;
  readonly chain: number;
  readonly from: number;
  readonly to: number;
}

/** That a relationship starts or leads to a memory. */
export interface RelationshipEnd {
  readonly op: number;
  readonly memory: number;
  readonly chain: number;
}

const columns = 'op, chain, from_memory AS "from", to_memory AS "to"';

/**
 * Values are bound as `+?`: a bare one beside ORDER BY is prepared again at every execution. The memories that are wanted are
 * bound as a JSON array: one statement for however many there are.
 */
export const relationshipQueries = {
  byOp: `SELECT ${columns} FROM memory_relationships WHERE op = +?`,
  ofOps: `SELECT ${columns} FROM memory_relationships WHERE op >= +? AND op <= +? ORDER BY op`,
  ofChain: `SELECT ${columns} FROM memory_relationships WHERE chain = +? AND op > +? AND op <= +? ORDER BY op LIMIT +?`,
  endsOfOps: 'SELECT op, memory, chain FROM memory_relationship_ends WHERE op >= +? AND op <= +? ORDER BY op, memory',
  newestOfMemory: `SELECT op, memory, chain FROM memory_relationship_ends INDEXED BY memory_relationship_ends_by_memory
    WHERE memory = +? AND op <= +? ORDER BY op DESC LIMIT +?`,
  related: `SELECT wanted.value AS memory FROM json_each(?) wanted
    WHERE EXISTS (SELECT 1 FROM memory_relationship_ends e WHERE e.memory = wanted.value)`,
  nextChain: `SELECT chain FROM memory_relationship_ends INDEXED BY memory_relationship_ends_by_chain
    WHERE memory = +? AND chain > +? ORDER BY chain LIMIT 1`,
  newestOfChain: `SELECT op, memory, chain FROM memory_relationship_ends INDEXED BY memory_relationship_ends_by_chain
    WHERE memory = +? AND chain = +? AND op > +? AND op <= +? ORDER BY op DESC LIMIT +?`,
} as const;

/** The relationship that an op added. */
export function findRelationship(db: ReadableDb, op: number): RelationshipRow | undefined {
  return db.query<[number], RelationshipRow>(relationshipQueries.byOp).get(op);
}

/** The relationships that ops from `from` to `upTo` added, both included: those of one changeset. */
export function listRelationshipsOfOps(db: ReadableDb, from: number, upTo: number): readonly RelationshipRow[] {
  return db.query<[number, number], RelationshipRow>(relationshipQueries.ofOps).all(from, upTo);
}

/** Relationships of a chain with `after` < op ≤ `upTo`, oldest first. */
export function listRelationshipsOfChain(
  db: ReadableDb,
  chain: number,
  after: number,
  upTo: number,
  limit: number,
): readonly RelationshipRow[] {
  return db
    .query<[number, number, number, number], RelationshipRow>(relationshipQueries.ofChain)
    .all(chain, after, upTo, limit);
}

/** The ends of the relationships of ops from `from` to `upTo`, both included, by op and memory. */
export function listEndsOfOps(db: ReadableDb, from: number, upTo: number): readonly RelationshipEnd[] {
  return db.query<[number, number], RelationshipEnd>(relationshipQueries.endsOfOps).all(from, upTo);
}

/** Relationships of a memory at or below an op number, newest first, visible or not. */
export function listEndsOfMemory(
  db: ReadableDb,
  memory: number,
  upTo: number,
  limit: number,
): readonly RelationshipEnd[] {
  return db
    .query<[number, number, number], RelationshipEnd>(relationshipQueries.newestOfMemory)
    .all(memory, upTo, limit);
}

/** Those of the memories that have any relationship, visible or not; one statement and one seek a memory. */
export function listRelatedMemories(db: ReadableDb, memories: readonly number[]): readonly number[] {
  return db
    .query<[string], { memory: number }>(relationshipQueries.related)
    .all(JSON.stringify(memories))
    .map(({ memory }) => memory);
}

/** The next chain above `after` that added a relationship of a memory. */
export function findNextRelatingChain(db: ReadableDb, memory: number, after: number): number | undefined {
  return db.query<[number, number], { chain: number }>(relationshipQueries.nextChain).get(memory, after)?.chain;
}

/** Relationships of a memory that one chain added, with `above` < op ≤ `upTo`, newest first. */
export function listEndsOfChain(
  db: ReadableDb,
  memory: number,
  chain: number,
  above: number,
  upTo: number,
  limit: number,
): readonly RelationshipEnd[] {
  return db
    .query<[number, number, number, number, number], RelationshipEnd>(relationshipQueries.newestOfChain)
    .all(memory, chain, above, upTo, limit);
}

/** Adds a relationship and its ends; they are never changed. */
export function insertRelationship(db: WritableDb, relationship: RelationshipRow): void {
  const { op, chain, from, to } = relationship;
  db.command<[number, number, number, number]>(
    'INSERT INTO memory_relationships (op, chain, from_memory, to_memory) VALUES (?, ?, ?, ?)',
  ).run(op, chain, from, to);
  const insertEnd = db.command<[number, number, number]>(
    'INSERT INTO memory_relationship_ends (op, memory, chain) VALUES (?, ?, ?)',
  );
  for (const end of endsOf(relationship)) insertEnd.run(end.op, end.memory, end.chain);
}

/** The ends of a relationship, by memory: two, or one when it leads back to where it starts. */
export function endsOf({ op, chain, from, to }: RelationshipRow): readonly RelationshipEnd[] {
  return [...new Set([from, to])].toSorted((one, other) => one - other).map((memory) => ({ op, memory, chain }));
}
