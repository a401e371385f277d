import { AsyncBatchedStore, InMemoryStore, type Operation } from '@langchain/langgraph-checkpoint';
import { expect, onTestFinished, test, vi } from 'vitest';
import { KeyTooLongError, LedgerRefusedError } from '../../examples/langgraph-store/errors.ts';
import { openLedgerEngine } from './ledger-engine.ts';

// Every known difference between the two stores, in the order of the example's README, with what InMemoryStore does.

async function openBoth() {
  const engine = await openLedgerEngine();
  return { engine, ...(await engine.agent()), reference: new InMemoryStore() };
}

test('a search answers in the order of the ledger’s keys, InMemoryStore in that of the puts', async () => {
  const { store, reference } = await openBoth();
  for (const target of [store, reference]) {
    await target.put(['b'], 'k', {});
    await target.put(['a'], 'z', {});
    await target.put(['a'], 'b', {});
  }
  const keysOf = (items: readonly { key: string }[]): readonly string[] => items.map(({ key }) => key);
  expect(keysOf(await store.search([]))).toEqual(['b', 'z', 'k']);
  expect(keysOf(await reference.search([]))).toEqual(['k', 'z', 'b']);
});

test('a query ranks by the ledger’s search, InMemoryStore without embeddings passes it over', async () => {
  const { store, reference } = await openBoth();
  for (const target of [store, reference]) {
    await target.put(['a'], '1', { text: 'coffee' });
    await target.put(['a'], '2', { text: 'a cup of green tea' });
    await target.put(['b'], '3', { text: 'green tea' });
  }
  const found = await store.search(['a'], { query: 'green tea' });
  expect(found.map(({ key }) => key)).toEqual(['2', '1']);
  expect(found[0]?.score).toBeGreaterThanOrEqual(0.7);
  expect(found[1]).not.toHaveProperty('score');
  expect((await reference.search(['a'], { query: 'green tea' })).map(({ key, score }) => [key, score])).toEqual([
    ['1', undefined],
    ['2', undefined],
  ]);
});

test('at most the 20 best items of all namespaces are ranked; the others follow without a score', async () => {
  const { store } = await openBoth();
  const crowd = Array.from(
    { length: 20 },
    (_, number): Operation => ({
      namespace: ['crowd'],
      key: `${number}`,
      value: { text: 'green tea' },
    }),
  );
  await store.batch([...crowd, { namespace: ['a'], key: 'only', value: { text: 'green and other tea' } }]);
  const found = await store.search(['a'], { query: 'green tea' });
  expect(found.map(({ key, score }) => [key, score])).toEqual([['only', undefined]]);
});

test('a query has 500 characters at most', async () => {
  const { store, reference } = await openBoth();
  expect(await reference.search(['a'], { query: 'q'.repeat(501) })).toEqual([]);
  await expect(store.search(['a'], { query: 'q'.repeat(501) })).rejects.toMatchObject({
    name: 'LedgerRefusedError',
    code: 'VALIDATION_ERROR',
    status: 422,
  });
});

test('index is passed over: every item is found by its text', async () => {
  const { store } = await openBoth();
  await store.put(['a'], 'k', { text: 'green tea' }, false);
  expect((await store.search(['a'], { query: 'green tea' }))[0]?.score).toBeGreaterThanOrEqual(0.7);
});

test('a namespace without items is not listed, InMemoryStore lists it', async () => {
  const { store, reference } = await openBoth();
  for (const target of [store, reference]) {
    await target.put(['gone'], 'k', {});
    await target.delete(['gone'], 'k');
    await target.delete(['never'], 'k');
  }
  expect(await store.listNamespaces()).toEqual([]);
  expect(await reference.listNamespaces()).toEqual([['gone'], ['never']]);
});

test('namespaces cut to no label at all are one empty one, in InMemoryStore one with an empty label', async () => {
  const { store, reference } = await openBoth();
  for (const target of [store, reference]) await target.put(['a', 'b'], 'k', {});
  expect(await store.listNamespaces({ maxDepth: 0 })).toEqual([[]]);
  expect(await reference.listNamespaces({ maxDepth: 0 })).toEqual([['']]);
});

test('a list of namespaces without matchConditions is answered in a batch, InMemoryStore leaves its answer out', async () => {
  const { store, reference } = await openBoth();
  for (const target of [store, reference]) await target.put(['a'], 'k', {});
  const operations: Operation[] = [
    { limit: 10, offset: 0 },
    { namespace: ['a'], key: 'absent' },
  ];
  expect(await store.batch(operations)).toEqual([[['a']], null]);
  expect(await reference.batch(operations)).toEqual([null]);
});

test('items whose parts join to the same text are two in a batch, InMemoryStore keeps the last', async () => {
  const { store, reference } = await openBoth();
  const operations: Operation[] = [
    { namespace: ['a'], key: 'b:c', value: { n: 1 } },
    { namespace: ['a', 'b'], key: 'c', value: { n: 2 } },
  ];
  await store.batch(operations);
  await reference.batch(operations);
  expect((await store.search([])).map(({ namespace, key }) => [namespace, key])).toEqual([
    [['a'], 'b:c'],
    [['a', 'b'], 'c'],
  ]);
  expect((await reference.search([])).map(({ namespace, key }) => [namespace, key])).toEqual([[['a', 'b'], 'c']]);
});

test('a value is a copy in JSON, in InMemoryStore the very object', async () => {
  const { store, reference } = await openBoth();
  const value: Record<string, unknown> = { zero: -0, when: new Date(0), nothing: undefined };
  for (const target of [store, reference]) await target.put(['a'], 'k', value);
  value.later = true;
  expect((await reference.get(['a'], 'k'))?.value).toBe(value);
  expect((await store.get(['a'], 'k'))?.value).toStrictEqual({ zero: 0, when: '1970-01-01T00:00:00.000Z' });
});

test('an item that was got stays as it was, in InMemoryStore it changes with the next put', async () => {
  const { store, reference } = await openBoth();
  const got = await Promise.all(
    [store, reference].map(async (target) => {
      await target.put(['a'], 'k', { n: 1 });
      const item = await target.get(['a'], 'k');
      await target.put(['a'], 'k', { n: 2 });
      return item?.value.n;
    }),
  );
  expect(got).toEqual([1, 2]);
});

test('a value that is no object comes back as content', async () => {
  const { store, ask } = await openBoth();
  for (const [key, raw] of Object.entries({ text: 'tea', number: 1, list: [1, { n: 2 }], nothing: null, no: false })) {
    expect(await ask('PUT', `/v1/memory/a%3A${key}`, { value: raw })).toBe(200);
    expect((await store.get(['a'], key))?.value).toEqual({ content: raw });
  }
  const [item] = await store.search(['a'], { filter: { content: 'tea' } });
  expect(item).toMatchObject({ namespace: ['a'], key: 'text', value: { content: 'tea' } });
});

test('keys of other programs are items when they are the key of one, and passed over when they are not', async () => {
  const { store, ask } = await openBoth();
  for (const key of ['users:42:tea', 'plain', 'stats', 'a.b:c', 'a::b', 'a:b..c'])
    expect(await ask('PUT', `/v1/memory/${encodeURIComponent(key)}`, { value: { n: 1 } })).toBe(200);
  expect(await store.get(['users', '42'], 'tea')).toMatchObject({ value: { n: 1 } });
  expect((await store.search([])).map(({ key }) => key)).toEqual(['tea']);
  expect(await store.listNamespaces()).toEqual([['users', '42']]);
});

test('a namespace and a key that are too long together are refused before anything is sent, and hold nothing', async () => {
  const { store } = await openBoth();
  const long = 'k'.repeat(127);
  await expect(
    store.batch([
      { namespace: ['a'], key: 'short', value: {} },
      { namespace: ['a'], key: long, value: {} },
    ]),
  ).rejects.toThrow(KeyTooLongError);
  expect(await store.search([])).toEqual([]);
  expect(await store.get(['a'], long)).toBeNull();
  expect(await store.delete(['a'], long)).toBeUndefined();
  expect(await store.search([long, long])).toEqual([]);
  expect(await store.listNamespaces({ prefix: [long, long] })).toEqual([]);
});

test('a value over 524 288 bytes is refused, and the puts before it in the batch stand', async () => {
  const { store } = await openBoth();
  const batch = store.batch([
    { namespace: ['a'], key: '1', value: { n: 1 } },
    { namespace: ['a'], key: '2', value: { text: 'x'.repeat(524_288) } },
    { namespace: ['a'], key: '3', value: { n: 3 } },
  ]);
  await expect(batch).rejects.toThrow(LedgerRefusedError);
  await expect(batch).rejects.toMatchObject({ code: 'MEMORY_VALUE_TOO_LARGE', status: 413 });
  expect((await store.search(['a'])).map(({ key }) => key)).toEqual(['1']);
});

test('a value that is nested over 64 levels is refused', async () => {
  const { store } = await openBoth();
  const nested = (levels: number): Record<string, unknown> =>
    JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`);
  await store.put(['a'], 'k', nested(60));
  const refused = { name: 'LedgerRefusedError', code: 'VALIDATION_ERROR', status: 422 };
  await expect(store.put(['a'], 'k', nested(66))).rejects.toMatchObject(refused);
  expect((await store.get(['a'], 'k'))?.value).toEqual(nested(60));
});

test('with a time to live items end by themselves, and a put without one keeps them', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-12-01T00:00:00Z') });
  onTestFinished(() => void vi.useRealTimers());
  const { store, storeWith } = await openBoth();
  const passing = storeWith({ ttlSeconds: 60 });
  await passing.put(['a'], 'passing', { n: 1 });
  await passing.put(['a'], 'kept', { n: 1 });
  await store.put(['a'], 'kept', { n: 2 });
  vi.setSystemTime(Date.now() + 59_999);
  expect(await store.search(['a'])).toHaveLength(2);
  vi.setSystemTime(Date.now() + 1);
  expect(await store.get(['a'], 'passing')).toBeNull();
  expect((await store.search(['a'])).map(({ value }) => value)).toEqual([{ n: 2 }]);
});

test('it works behind the batching that LangGraph puts around its stores, with a key for keys and values alone', async () => {
  const { store } = await (await openLedgerEngine()).agent('memory');
  const batched = new AsyncBatchedStore(store);
  await batched.start();
  await Promise.all([batched.put(['a'], '1', { n: 1 }), batched.put(['a'], '2', { n: 2 })]);
  const [one, found] = await Promise.all([batched.get(['a'], '1'), batched.search(['a'])]);
  await batched.stop();
  expect(one?.value).toEqual({ n: 1 });
  expect(found.map(({ value }) => value)).toEqual([{ n: 1 }, { n: 2 }]);
});
