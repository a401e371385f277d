import { expect, test, vi } from 'vitest';
import { silentLog } from '../../src-main/base/log.ts';
import { createEventHub } from '../../src-main/commands/events.ts';
import { startUpkeep } from '../../src-main/commands/upkeep.ts';
import { proposalLifeMs } from '../../src-preload/contract/limits.ts';
import { branch, commit, proposal, startProject } from '../support/history-in-engine.ts';
import { tempEngine } from '../support/temp-engine.ts';

test('P40 proposals past their time expire by themselves', async () => {
  const engine = await tempEngine();
  await startProject(engine, 'demo');
  const writer = await engine.agent('writer', 'propose', 'demo');
  const { proposal_id: id } = await proposal(engine, writer, 'demo', 'work', 'text');
  engine.clock.advance(proposalLifeMs + 1);
  const upkeep = startUpkeep({ ...engine, events: engine.commands, log: silentLog });
  await upkeep.stop();
  expect(await engine.run(writer, 'memory.proposal_show', { proposal_id: id })).toMatchObject({ status: 'expired' });
  expect(engine.events).toContainEqual({
    kind: 'proposal_changed',
    project_id: 'demo',
    proposal_id: id,
    status: 'expired',
  });
});

test('P40 after commits the indexes are brought up to date, until nothing waits', async () => {
  const engine = await tempEngine();
  await startProject(engine, 'demo');
  const writer = await engine.agent('writer', 'propose', 'demo');
  const at = await branch(engine, writer, 'demo', 'main');
  const upkeep = startUpkeep({ ...engine, events: engine.commands, log: silentLog });
  await commit(engine, writer, 'demo', at, ...Array.from({ length: 300 }, (_, index) => `memory number ${index}`));
  await vi.waitFor(async () => expect(await engine.lethe.maintain()).toBe(false), { timeout: 5_000 });
  await upkeep.stop();
  const found = await engine.run(writer, 'memory.search', { project: 'demo', ref: at.ref, query: '299' });
  expect(found.matches.map(({ memory }) => memory.content)).toEqual(['memory number 299']);
  expect(found.complete).toBe(true);
});

test('P41 a listener that fails disturbs neither the others nor the call', async () => {
  const hub = createEventHub(silentLog);
  const heard: string[] = [];
  hub.subscribe(() => {
    throw new Error('deaf');
  });
  const listener = (event: { readonly kind: string }): void => void heard.push(event.kind);
  const stop = hub.subscribe(listener);
  hub.subscribe(listener);
  const engine = await tempEngine();
  engine.commands.subscribe(() => {
    throw new Error('deaf');
  });
  await startProject(engine, 'demo');
  hub.publish(engine.events.slice(0, 1));
  stop();
  hub.publish(engine.events.slice(0, 1));
  expect(heard).toEqual(['project_created', 'project_created', 'project_created']);
});
