import {
  BaseStore,
  type GetOperation,
  type Item,
  type ListNamespacesOperation,
  type Operation,
  type OperationResults,
  type PutOperation,
  type SearchItem,
  type SearchOperation,
  validateNamespace,
} from '@langchain/langgraph-checkpoint';
import { KeyTooLongError } from './errors.ts';
import { type Entry, type LedgerDoor, type LedgerDoorOptions, openLedgerDoor } from './ledger-door.ts';
import { findPlace, ledgerKeyLengthMax, type Place, toLedgerKey, toLedgerPrefix } from './ledger-key.ts';
import { matchesCondition, matchesFilter, sharedLabels } from './matching.ts';

export interface LedgerStoreOptions extends LedgerDoorOptions {
  /** How long what this store puts is there, in whole seconds; until it is deleted when left out. */
  readonly ttlSeconds?: number | undefined;
}

/**
 * A store of LangGraph in the memory ledger: items are keys of one agent, every put and delete a version that stays in
 * the ledger's history. README.md says how it differs from InMemoryStore.
 */
export class LedgerStore extends BaseStore {
  readonly #door: LedgerDoor;
  readonly #ttlSeconds: number | undefined;

  constructor(options: LedgerStoreOptions) {
    super();
    this.#door = openLedgerDoor(options);
    this.#ttlSeconds = options.ttlSeconds;
  }

  /**
   * Answers reads by what was there before the batch, then writes in order, of several to one item the last alone. Nothing
   * is sent when any operation cannot be; a write that fails ends the batch, and those before it stand. Results are in the
   * order of the operations, null for writes. Throws InvalidNamespaceError, KeyTooLongError, and as LedgerDoor.
   */
  override batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>>;
  override async batch(operations: Operation[]): Promise<unknown> {
    for (const operation of operations) requireNamespaces(operation);
    const writes = planWrites(operations);
    const results: unknown[] = [];
    for (const operation of operations) results.push('value' in operation ? null : await this.#answer(operation));
    for (const [key, { value }] of writes) await this.#write(key, value);
    return results;
  }

  #answer(operation: GetOperation | SearchOperation | ListNamespacesOperation): Promise<unknown> {
    if ('namespacePrefix' in operation) return this.#search(operation);
    return 'key' in operation ? this.#get(operation) : this.#listNamespaces(operation);
  }

  async #write(key: string, value: unknown): Promise<void> {
    if (value === null) await this.#door.delete(key);
    else await this.#door.put(key, value, this.#ttlSeconds);
  }

  async #get(place: GetOperation): Promise<Item | null> {
    const key = toLedgerKey(place);
    const entry = key === undefined ? undefined : await this.#door.find(key);
    return entry === undefined ? null : toItem(place, entry);
  }

  async #search(operation: SearchOperation): Promise<SearchItem[]> {
    const { namespacePrefix, filter = {}, offset = 0, limit = 10, query = '' } = operation;
    const prefix = toLedgerPrefix(namespacePrefix);
    const items: SearchItem[] = [];
    if (prefix === undefined || limit <= 0) return items;
    const hasFilter = Object.keys(filter).length > 0;
    let passed = 0;
    for await (const candidate of this.#candidates(prefix, query)) {
      // Without a filter, what is passed over need not be read.
      if (!hasFilter && passed < offset) {
        passed += 1;
        continue;
      }
      const item = await candidate();
      if (item === undefined || !matchesFilter(item.value, filter)) continue;
      if (passed < offset) passed += 1;
      else if (items.push(item) === limit) break;
    }
    return items;
  }

  /** Items under a prefix: those that the query found, best first, then all others in the order of their ledger keys. */
  async *#candidates(prefix: string, query: string): AsyncGenerator<() => Promise<SearchItem | undefined>> {
    const met = new Set<string>();
    const matches = query === '' ? [] : await this.#door.search(query);
    for (const match of matches) {
      const place = match.key.startsWith(prefix) ? findPlace(match.key) : undefined;
      if (place === undefined) continue;
      met.add(match.key);
      yield async () => ({ ...toItem(place, match), score: match.similarity });
    }
    for await (const [key, place] of this.#places(prefix)) {
      if (met.has(key)) continue;
      yield async () => {
        const entry = await this.#door.find(key);
        return entry === undefined ? undefined : toItem(place, entry);
      };
    }
  }

  async #listNamespaces(operation: ListNamespacesOperation): Promise<string[][]> {
    const { matchConditions = [], maxDepth, limit, offset = 0 } = operation;
    const prefix = toLedgerPrefix(sharedLabels(matchConditions));
    const found = new Map<string, string[]>();
    if (prefix === undefined) return [];
    for await (const [, { namespace }] of this.#places(prefix)) {
      if (!matchConditions.every((condition) => matchesCondition(condition, namespace))) continue;
      const shown = namespace.slice(0, maxDepth);
      found.set(shown.join(':'), shown);
    }
    const inOrder = [...found].sort(([one], [other]) => one.localeCompare(other)).map(([, namespace]) => namespace);
    return inOrder.slice(offset, offset + (limit ?? inOrder.length));
  }

  /** The ledger keys under a prefix that are items of a store, in their order. */
  async *#places(prefix: string): AsyncGenerator<readonly [string, Place]> {
    for await (const key of this.#door.list(prefix)) {
      const place = findPlace(key);
      if (place !== undefined) yield [key, place];
    }
  }
}

/** As InMemoryStore requires them. Throws InvalidNamespaceError. */
function requireNamespaces(operation: Operation): void {
  if ('namespace' in operation) validateNamespace(operation.namespace, { allowReservedRoot: true });
  if ('namespacePrefix' in operation)
    validateNamespace(operation.namespacePrefix, { allowEmpty: true, allowReservedRoot: true });
}

/** The last write to each ledger key, in the order of the first. Throws KeyTooLongError before anything is sent. */
function planWrites(operations: readonly Operation[]): ReadonlyMap<string, PutOperation> {
  const writes = new Map<string, PutOperation>();
  for (const operation of operations) {
    if (!('value' in operation)) continue;
    const key = toLedgerKey(operation);
    if (key !== undefined) writes.set(key, operation);
    // Where nothing can be put there is nothing to delete.
    else if (operation.value !== null)
      throw new KeyTooLongError(
        `The namespace and the key, joined and escaped, are longer than ${ledgerKeyLengthMax} characters. Shorten them: every character but letters, digits, "-", "_" and "." takes several.`,
      );
  }
  return writes;
}

/** An item of what a ledger key holds. A value that is no object was put by another program: it comes as `content`. */
function toItem({ namespace, key }: Place, { value, createdAt, updatedAt }: Entry): Item {
  return { namespace: [...namespace], key, value: isObject(value) ? value : { content: value }, createdAt, updatedAt };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
