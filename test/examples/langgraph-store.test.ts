import {
  InMemoryStore,
  type Item,
  type ListNamespacesOperation,
  type Operation,
  type SearchItem,
  type SearchOperation,
} from '@langchain/langgraph-checkpoint';
import fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';
import { toLedgerKey } from '../../examples/langgraph-store/ledger-key.ts';
import type { LedgerStore } from '../../examples/langgraph-store/ledger-store.ts';
import { openLedgerEngine } from './ledger-engine.ts';

// The same operations on the store and on InMemoryStore, at the same moments. Where the two differ by design, what is
// expected is made of InMemoryStore's answer: the order of a search (by ledger key), namespaces that hold nothing (left out).

/** More than there is. */
const all = 1_000_000;
const labels = ['users', 'a', 'b', 'me@example', '日本', '*'] as const;
/** Few, so that operations meet. */
const namespaces = [['users'], ['users', 'a'], ['a'], ['a', 'b'], ['a', 'users', 'b'], ['me@example', '日本'], ['*']];
const keys = ['k', 'b', 'v1.2', 'x:y', '', '..41.', 'é 😀', '__proto__'] as const;
const queries = ['', 'tea', 'green tea', '日本', 'nothing of that', ' '] as const;

const label = fc.constantFrom(...labels);
const namespace = fc.constantFrom(...namespaces);
const key = fc.oneof({ weight: 2, arbitrary: fc.constant('k') }, fc.constantFrom(...keys));
const value = fc
  .record(
    {
      kind: fc.constantFrom('note', 'fact'),
      n: fc.integer({ min: 0, max: 4 }),
      text: fc.constantFrom('a cup of green tea', '日本のお茶', 'coffee', ''),
      rest: fc.jsonValue({ maxDepth: 2 }),
    },
    { requiredKeys: [] },
  )
  // What JSON cannot say is not said: -0.
  .map((fields): Record<string, unknown> => JSON.parse(JSON.stringify(fields)));
const filter = fc.constantFrom<Record<string, unknown>>(
  {},
  { kind: 'note' },
  { kind: 'note', n: 1 },
  { n: { $gt: 1 } },
  { n: { $gte: 1, $lte: 3, $ne: 2 } },
  { n: { $lt: 2 }, kind: { $eq: 'fact' } },
  { kind: { $in: ['fact', 'other'] } },
  { kind: { $nin: ['fact'] } },
  { n: { $in: 1 } },
  { rest: null },
  { kind: {} },
  { kind: { $like: 'n' } },
  { absent: { $ne: 1 } },
);
const page = {
  limit: fc.option(fc.integer({ min: 0, max: 6 }), { nil: undefined }),
  offset: fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined }),
};
const path = fc.option(fc.array(label, { minLength: 1, maxLength: 2 }), { nil: undefined });

const putOperation = fc.record({ namespace, key, value: fc.option(value, { nil: null, freq: 4 }) });
const getOperation = fc.record({ namespace, key });
const searchOperation = fc.record(
  { namespacePrefix: fc.array(label, { maxLength: 2 }), filter, query: fc.constantFrom(...queries), ...page },
  { requiredKeys: ['namespacePrefix'] },
);
const listOperation = fc
  .record({
    prefix: path,
    suffix: path,
    maxDepth: fc.constantFrom(undefined, 1, 2),
    limit: fc.nat(8),
    offset: fc.nat(3),
  })
  .map(({ prefix, suffix, ...rest }): ListNamespacesOperation => {
    const conditions: NonNullable<ListNamespacesOperation['matchConditions']> = [];
    if (prefix !== undefined) conditions.push({ matchType: 'prefix', path: prefix });
    if (suffix !== undefined) conditions.push({ matchType: 'suffix', path: suffix });
    const { maxDepth, limit, offset } = rest;
    return { matchConditions: conditions, limit, offset, ...(maxDepth === undefined ? {} : { maxDepth }) };
  });

const batch = fc.array(fc.oneof({ weight: 5, arbitrary: putOperation }, getOperation, searchOperation, listOperation), {
  minLength: 1,
  maxLength: 8,
});

/** Some of the namespaces that no store takes. */
const wrongNamespace = fc.constantFrom<string[]>([], ['a.b'], ['a:b'], [''], ['a', ''], ['a\0'], ['langgraph', 'a']);

type Step =
  | { readonly kind: 'batch'; readonly operations: Operation[] }
  | { readonly kind: 'wrong'; readonly method: 'put' | 'get' | 'delete' | 'search'; readonly namespace: string[] };
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: batch.map((operations): Step => ({ kind: 'batch', operations: defined(operations) })) },
    {
      weight: 1,
      arbitrary: fc
        .record({ method: fc.constantFrom('put', 'get', 'delete', 'search'), namespace: wrongNamespace })
        .map((wrong): Step => ({ kind: 'wrong', ...wrong })),
    },
  ),
  { minLength: 4, maxLength: 10 },
);

/** Operations without fields that are undefined, as callers write them. */
function defined(operations: readonly unknown[]): Operation[] {
  return operations.map((operation) => JSON.parse(JSON.stringify(operation)));
}

test('random operations have the same outcome as in InMemoryStore', { timeout: 120_000 }, async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-12-01T00:00:00Z') });
  onTestFinished(() => void vi.useRealTimers());
  const engine = await openLedgerEngine();
  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      const { store } = await engine.agent();
      const reference = new InMemoryStore();
      for (const step of sequence) {
        vi.setSystemTime(Date.now() + 1_000);
        if (step.kind === 'wrong') await expectSameRefusal(store, reference, step);
        else await expectSameBatch(store, reference, step.operations);
      }
      expect(await store.search([], { limit: all })).toEqual(inKeyOrder(await reference.search([], { limit: all })));
    }),
    // Each run costs hundreds of requests: what fails is told with its seed at once, not made smaller for minutes.
    { numRuns: 15, endOnFailure: true },
  );
});

test('more items than a page of the ledger’s list are all found, each once', async () => {
  const { store } = await (await openLedgerEngine()).agent();
  const items = Array.from(
    { length: 103 },
    (_, number): Operation => ({
      namespace: ['a', String(number % 3)],
      key: String(number).padStart(3, '0'),
      value: { n: number },
    }),
  );
  await store.batch(items);
  const found = await store.search(['a'], { limit: all });
  expect(found.map(({ value: held }) => held.n).sort((one, other) => one - other)).toEqual([...Array(103).keys()]);
  const late = await store.search(['a', '2'], { filter: { n: { $gt: 50 } }, offset: 14, limit: 10 });
  expect(late.map(({ key: name }) => name)).toEqual(['095', '098', '101']);
  expect((await store.search(['a', '2'], { offset: 32 })).map(({ key: name }) => name)).toEqual(['098', '101']);
  expect(await store.listNamespaces()).toEqual([
    ['a', '0'],
    ['a', '1'],
    ['a', '2'],
  ]);
});

async function expectSameBatch(store: LedgerStore, reference: InMemoryStore, operations: Operation[]): Promise<void> {
  const expected: unknown[] = [];
  const lists = await withoutEmptied(reference);
  for (const operation of operations) {
    if ('namespacePrefix' in operation) expected.push(await expectedItems(store, reference, operation));
    else if ('value' in operation) expected.push(null);
    else if ('key' in operation) expected.push(await reference.get(operation.namespace, operation.key));
    else expected.push((await lists.batch([operation]))[0]);
  }
  expect(await store.batch(operations)).toEqual(structuredClone(expected));
  await reference.batch(structuredClone(operations));
}

/** What a search must find: of InMemoryStore's items, in the order of this store, the page that was asked for. */
async function expectedItems(
  store: LedgerStore,
  reference: InMemoryStore,
  operation: SearchOperation,
): Promise<readonly SearchItem[]> {
  const { namespacePrefix, filter: wanted = {}, limit = 10, offset = 0, query = '' } = operation;
  const items = inKeyOrder(await reference.search(namespacePrefix, { filter: wanted, limit: all }));
  if (query === '') return items.slice(offset, offset + limit);
  const ranked = await store.search(namespacePrefix, { filter: wanted, query, limit: all });
  expect(inKeyOrder(ranked.map(({ score: _score, ...item }) => item))).toEqual(items);
  const scores = ranked.map(({ score }) => score ?? 0);
  expect(scores).toEqual(scores.toSorted((one, other) => other - one));
  expect(inKeyOrder(ranked.filter(({ score }) => score === undefined))).toEqual(
    ranked.filter(({ score }) => score === undefined),
  );
  return ranked.slice(offset, offset + limit);
}

function inKeyOrder<Found extends Item>(items: readonly Found[]): readonly Found[] {
  const keyOf = (item: Item): string => toLedgerKey(item) ?? '';
  return items.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
}

/** A store with the same items that never had others: InMemoryStore goes on listing namespaces whose items are gone. */
async function withoutEmptied(reference: InMemoryStore): Promise<InMemoryStore> {
  const copy = new InMemoryStore();
  const items = await reference.search([], { limit: all });
  await copy.batch(
    items.map(({ namespace: names, key: name, value: held }) => ({ namespace: names, key: name, value: held })),
  );
  return copy;
}

async function expectSameRefusal(
  store: LedgerStore,
  reference: InMemoryStore,
  { method, namespace: names }: Extract<Step, { kind: 'wrong' }>,
): Promise<void> {
  const run = async (target: LedgerStore | InMemoryStore): Promise<unknown> => {
    try {
      if (method === 'put') return await target.put(names, 'k', { n: 1 });
      if (method === 'get') return await target.get(names, 'k');
      return await (method === 'delete' ? target.delete(names, 'k') : target.search(names, { limit: 0 }));
    } catch (error) {
      return error;
    }
  };
  expect(await run(store)).toEqual(await run(reference));
}
