import { assert } from '../../base/assert.ts';
import type { ReadableDb, WritableDb } from '../../sqlite/driver.ts';

/** Where a changeset stands in history. Numbers of parents are 0 when there is none. */
export interface Place {
  readonly seq: number;
  /** A chain is a run along first parents; each changeset is in exactly one. */
  readonly chain: number;
  /** Number within the chain, from 0. */
  readonly position: number;
  readonly firstParent: number;
  readonly secondParent: number;
  /** First-parent ancestors above it. */
  readonly depth: number;
  /** A first-parent ancestor far up: the jumps of a line reach any ancestor in a logarithm of its depth. */
  readonly jump: number;
  /** Root of the vector: what it sees of the other chains. */
  readonly vector: number | undefined;
  /** Active memories at this changeset. */
  readonly active: number;
  /** Touches of the chain up to and including this changeset. */
  readonly touches: number;
  /** Touches and changesets along first parents since the last recency page; 0 means that this changeset has one. */
  readonly steps: number;
}

interface PlaceRow {
  seq: number;
  chain: number;
  position: number;
  first_parent: number;
  second_parent: number;
  depth: number;
  jump: number;
  vector: number | null;
  active: number;
  touches: number;
  steps: number;
}

const columns = 'seq, chain, position, first_parent, second_parent, depth, jump, vector, active, touches, steps';

export const placeQueries = {
  bySeq: `SELECT ${columns} FROM memory_places WHERE seq = +?`,
  byPosition: 'SELECT seq FROM memory_places WHERE chain = +? AND position = +?',
  back: `SELECT ${columns} FROM memory_places WHERE chain = +? AND position < +? ORDER BY position DESC LIMIT +?`,
  lastChain: 'SELECT chain FROM memory_places ORDER BY chain DESC LIMIT 1',
} as const;

/** Places of one verb: each is read at most once, since places never change. */
export interface Places {
  get(seq: number): Place;
  /** The same for who walks down a line: when it has to be read, its neighbours in the chain are read with it. */
  getAhead(seq: number): Place;
}

/** Places that are read ahead, at first and at most: who goes on walking is read further ahead. */
const placesAheadMin = 8;
const placesAheadMax = 32;

/** Opens the places for one read or write verb. A changeset without a place is a broken index: our own bug. */
export function openPlaces(db: ReadableDb): Places {
  const known = new Map<number, Place>();
  let ahead = placesAheadMin;
  const get = (seq: number): Place => {
    const cached = known.get(seq);
    if (cached !== undefined) return cached;
    const place = findPlace(db, seq);
    assert(place !== undefined, 'every changeset has a place in the index');
    known.set(seq, place);
    return place;
  };
  return {
    get,
    getAhead: (seq) => {
      if (known.has(seq)) return get(seq);
      for (const place of listPlacesBack(db, get(seq), ahead)) known.set(place.seq, place);
      ahead = Math.min(ahead * 2, placesAheadMax);
      return get(seq);
    },
  };
}

/** The places before one in its chain, nearest first. */
function listPlacesBack(db: ReadableDb, from: Place, limit: number): readonly Place[] {
  if (from.position === 0) return [];
  return db
    .query<[number, number, number], PlaceRow>(placeQueries.back)
    .all(from.chain, from.position, limit)
    .map(toPlace);
}

/** The place of a changeset; undefined when the index does not hold it. */
export function findPlace(db: ReadableDb, seq: number): Place | undefined {
  const row = db.query<[number], PlaceRow>(placeQueries.bySeq).get(seq);
  return row === undefined ? undefined : toPlace(row);
}

/** Whether a changeset is the newest of its chain, so that the chain can be extended. */
export function isTip(db: ReadableDb, place: Place): boolean {
  return findPlaceAt(db, place.chain, place.position + 1) === undefined;
}

/** The changeset number at a position of a chain. */
export function findPlaceAt(db: ReadableDb, chain: number, position: number): number | undefined {
  return db.query<[number, number], { seq: number }>(placeQueries.byPosition).get(chain, position)?.seq;
}

/** A chain number that is not yet taken. */
export function nextChain(db: ReadableDb): number {
  const last = db.query<[], { chain: number }>(placeQueries.lastChain).get();
  return last === undefined ? 0 : last.chain + 1;
}

/** Adds the place of a changeset that was just made; places are never changed. */
export function insertPlace(db: WritableDb, place: Place): void {
  db.command<[number, number, number, number, number, number, number, number | null, number, number, number]>(
    `INSERT INTO memory_places (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ).run(
    place.seq,
    place.chain,
    place.position,
    place.firstParent,
    place.secondParent,
    place.depth,
    place.jump,
    place.vector ?? null,
    place.active,
    place.touches,
    place.steps,
  );
}

function toPlace(row: PlaceRow): Place {
  return {
    seq: row.seq,
    chain: row.chain,
    position: row.position,
    firstParent: row.first_parent,
    secondParent: row.second_parent,
    depth: row.depth,
    jump: row.jump,
    vector: row.vector ?? undefined,
    active: row.active,
    touches: row.touches,
    steps: row.steps,
  };
}
