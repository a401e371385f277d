import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { AgentClient } from '../support/mcp-clients.ts';
import { DeskPage, screens } from './desk-page.ts';
import { Household, type Serving } from './running-app.ts';
import { done, Worker } from './worker.ts';

const project = 'orbit';
const main = 'refs/shared/main';
const statusSchema = z.object({
  actor_id: z.string(),
  owned_prefixes: z.array(z.string()),
  refs: z.array(z.object({ ref_name: z.string(), head_changeset_id: z.string() })),
});
const contextSchema = z.object({
  head_changeset_id: z.string(),
  total_active: z.int(),
  memories: z.array(z.object({ memory_id: z.string(), content: z.string() })),
});
const hostile = 'A page said: <img src=x onerror="document.title=1"> \u202Eevil\u202C \u001b[31mred\u200b';

const named = (memory_id: string, content: string, more: Record<string, unknown> = {}) => ({
  op_type: 'add_memory',
  payload: { memory_id, content, ...more },
});

describe('the main job', () => {
  const household = new Household();
  let serving: Serving;
  let desk: DeskPage;
  let mira: Worker;
  let otto: Worker;
  let readerToken = '';
  let reader: AgentClient;
  let root = '';
  const context = async (client: AgentClient, more: Record<string, unknown> = {}) =>
    contextSchema.parse(done(await client.call('memory_context_at', { project, limit: 100, ...more })));

  beforeAll(async () => {
    serving = await household.serve({ ownerPage: true });
    desk = await DeskPage.open(z.string().parse(serving.owner));
  });
  afterAll(async () => {
    await desk.close();
    await household.clear();
  });

  // One story: after a step that failed, the rest of it has no meaning.
  let broken = false;
  beforeEach(({ skip }) => {
    if (broken) skip('an earlier step failed');
  });
  afterEach(({ task }) => {
    broken ||= task.result?.state === 'fail';
  });

  /** Connects an agent at the desk and returns the token that is shown once. */
  const connectAtDesk = async (name: string, profile: RegExp, shot: boolean): Promise<string> => {
    await desk.goTo('Agents');
    await desk.button('Connect an agent').click();
    const dialog = desk.page.getByRole('dialog');
    await dialog.getByLabel('Name').fill(name);
    await dialog.getByRole('radio', { name: profile }).click();
    if (shot) await desk.show('connect-agent');
    await dialog.getByRole('button', { name: 'Create and mint token' }).click();
    const shown = dialog.getByRole('figure', { name: 'Token', exact: true }).locator('pre');
    const token = (await shown.textContent())?.trim() ?? '';
    expect(token).toMatch(/^obol_[0-9a-f]{16}_[A-Za-z0-9_-]{43}$/);
    await dialog.getByText('Waiting for the first call…').waitFor();
    return token;
  };

  test('the owner starts a project at an empty desk', async () => {
    await desk.sees('Begin with a project');
    expect(new URL(desk.page.url()).hash).not.toContain('code=');
    await desk.show('empty');
    await desk.page.getByLabel('Project name').fill(project);
    await desk.button('Create project').click();
    await desk.sees('Nothing waits for you');
  });

  test('the owner connects agents; the desk turns green at the first call', async () => {
    const token = await connectAtDesk('Mira', /^Propose/, true);
    const client = await household.client('sdk2-auto', serving.mcp, token);
    expect(client.protocolVersion).toBe('2026-07-28');
    const status = statusSchema.parse(done(await client.call('memory_status', { project })));
    await desk.page.getByText(/^Connected: test-sdk2-auto/).waitFor();
    await desk.button('Done').click();
    root = status.refs.find((ref) => ref.ref_name === main)?.head_changeset_id ?? '';
    mira = new Worker(client, project, `refs/agents/${status.actor_id}/notes`);

    const second = await household.client('sdk1', serving.mcp, await connectAtDesk('Otto', /^Propose/, false));
    otto = new Worker(
      second,
      project,
      `refs/agents/${statusSchema.parse(done(await second.call('memory_status', { project }))).actor_id}/notes`,
    );
    await desk.button('Done').click();
    readerToken = await connectAtDesk('Reader', /^Read/, false);
    await desk.button('Done').click();
    reader = await household.client('sdk1', serving.mcp, readerToken);
  });

  test('an agent branches, commits and proposes; the owner sees it arrive', async () => {
    await mira.branch(root);
    await mira.commit('What I learned while setting up the service', [
      named('api-port', 'The API listens on port 8080.', {
        kind: 'fact',
        scope: 'service',
        tags: ['network'],
        confidence: 0.9,
      }),
      named('deploys', 'Decision: deploy from main only, after the nightly tests.', {
        kind: 'decision',
        scope: 'release',
        visibility: 'shared',
      }),
      named('style', 'The team writes dates as 2026-11-30.', { kind: 'observation', tags: ['style', 'docs'] }),
    ]);
    await mira.commit('A note with text from a web page', [
      named('web-note', hostile, { kind: 'record', tags: ['untrusted'] }),
    ]);
    expect((await context(reader)).total_active).toBe(0);
    await desk.goTo('Inbox');
    await mira.propose(root, 'Facts about the service, from setting it up');
    await desk.sees('Facts about the service, from setting it up');
    await desk.sees('1 proposal waiting');
    await desk.show('inbox');
  });

  test('the owner reads the verdict line and the changes, and merges', async () => {
    await desk.page.keyboard.press('j');
    await desk.sees('Merges cleanly (fast-forward, 4 added)');
    await desk.sees('The API listens on port 8080.');
    expect(await desk.page.title()).not.toBe('1');
    expect(await desk.page.locator('img[src="x"]').count()).toBe(0);
    await desk.show('review');
    await desk.button('Approve').first().click();
    await desk.sees('Approved. Merges cleanly (fast-forward, 4 added)');
    await desk.page.keyboard.press('m');
    await desk.page.getByRole('dialog').getByRole('button', { name: 'Merge', exact: true }).click();
    await desk.sees('Merged (fast-forward)');
  });

  test('another agent reads the accepted memory, and searches it', async () => {
    const read = await context(reader);
    expect(read.total_active).toBe(4);
    expect(read.memories.map((memory) => memory.memory_id).toSorted()).toEqual([
      'api-port',
      'deploys',
      'style',
      'web-note',
    ]);
    expect(read.memories.find((memory) => memory.memory_id === 'web-note')?.content).toBe(hostile);
    const found = z
      .object({ matches: z.array(z.object({ memory: z.object({ memory_id: z.string() }) })) })
      .parse(done(await reader.call('memory_search', { project, query: 'port 8080' })));
    expect(found.matches[0]?.memory.memory_id).toBe('api-port');
  });

  test('two agents change different memories: the second merge is a merge commit', async () => {
    const base = (await context(reader)).head_changeset_id;
    await otto.branch(base);
    await otto.commit('The port moved', [
      {
        op_type: 'correct_memory',
        target_event_id: 'api-port',
        payload: { content: 'The API listens on port 9090, behind the proxy.', confidence: 0.95 },
      },
    ]);
    await mira.commit('A better rule for dates', [
      {
        op_type: 'supersede_memory',
        target_event_id: 'style',
        resulting_event_id: 'style-2',
        payload: { content: 'Dates are written as 30 November 2026 in prose.', kind: 'observation' },
      },
    ]);
    const correction = await otto.propose(base, 'Port 8080 is gone: correct it');
    await mira.propose(base, 'Dates in prose');
    await desk.goTo('Inbox');
    await desk.page.getByRole('link', { name: /Dates in prose/ }).click();
    await desk.sees('Merges cleanly (fast-forward, 1 superseded)');
    await desk.button('Approve and merge').click();
    await desk.page.getByRole('dialog').getByRole('button', { name: 'Approve and merge' }).click();
    await desk.sees('Merged (fast-forward)');

    await desk.page.getByRole('link', { name: /Port 8080 is gone/ }).click();
    await desk.sees('Merges cleanly (merge commit, 1 corrected)');
    await desk.page.getByText('9090, behind the proxy').first().waitFor();
    await desk.page.emulateMedia({ colorScheme: 'dark' });
    await desk.show('review-dark');
    await desk.page.emulateMedia({ colorScheme: 'light' });
    await desk.page.keyboard.press('c');
    await desk.page.getByLabel('What has to change').fill('Say where you saw it.');
    await desk.button('Send request').click();
    await desk.sees('Say where you saw it.');
    await desk.button('Approve').first().click();
    await desk.page.keyboard.press('m');
    await desk.page.getByRole('dialog').getByRole('button', { name: 'Merge', exact: true }).click();
    await desk.sees('Merged (merge commit)');

    const now = await context(reader);
    expect(now.memories.map((memory) => memory.content)).toContain('The API listens on port 9090, behind the proxy.');
    expect(now.memories.map((memory) => memory.memory_id).toSorted()).toEqual([
      'api-port',
      'deploys',
      'style-2',
      'web-note',
    ]);
    const then = await context(reader, { head_changeset_id: base });
    expect(then.memories.map((memory) => memory.content)).toContain('The API listens on port 8080.');
    const shown = done(await reader.call('memory_proposal_show', { proposal_id: correction }));
    expect(shown.strategy).toBe('merge_commit');
  });

  test('rejected work is kept, and says why', async () => {
    const base = (await context(reader)).head_changeset_id;
    const ref = `${otto.ref}-2`;
    const second = new Worker(otto.client, project, ref);
    await second.branch(base);
    await second.commit('Something doubtful', [
      named('doubt', 'The tests may be skipped on Fridays.', { kind: 'decision', scope: 'release' }),
    ]);
    const proposal = await second.propose(base, 'Skip tests on Fridays');
    await desk.goTo('Inbox');
    await desk.page.getByRole('link', { name: /Skip tests on Fridays/ }).click();
    await desk.sees('1 conflict: 1 contradiction');
    await desk.page.keyboard.press('r');
    await desk.page.getByRole('textbox', { name: 'Why' }).fill('Nobody decided that.');
    await desk.button('Reject proposal').click();
    await desk.sees(/^Rejected\. Nothing of it is in shared memory/);
    const kept = done(await otto.client.call('memory_show', { id: second.head }));
    expect(JSON.stringify(kept)).toContain('The tests may be skipped on Fridays.');
    expect(JSON.stringify(done(await otto.client.call('memory_proposal_show', { proposal_id: proposal })))).toContain(
      'Nobody decided that.',
    );
    expect((await context(reader)).memories.some((memory) => memory.memory_id === 'doubt')).toBe(false);
  });

  test('the owner reads memory now and as it was, and one memory with its lineage', async () => {
    await desk.goTo('Memory');
    await desk.page.getByRole('link', { name: /The API listens on port 9090/ }).click();
    await desk.page.getByRole('heading', { name: 'Lineage' }).waitFor();
    await desk.show('memory');
    await desk.page.getByLabel('Search memory').fill('deploy nightly');
    await desk.page.getByRole('link', { name: /Decision: deploy from main only/ }).waitFor();
    await desk.page.getByRole('link', { name: /The API listens/ }).waitFor({ state: 'detached' });
    await desk.page.getByLabel('Search memory').fill('');
    await desk.button(/^Moment: now/).click();
    await desk.page.getByLabel('As of a changeset').fill(root);
    await desk.button('Show changeset').click();
    await desk.sees('You are reading memory as it was at a changeset');
    await desk.sees('Nothing is accepted yet');
    await desk.page.getByRole('link', { name: 'Back to now' }).click();
    await desk.button(/^Moment: now/).click();
    await desk.page.getByLabel('As of a changeset').fill(z.string().parse(await firstMergedHead()));
    await desk.button('Show changeset').click();
    await desk.page.getByRole('link', { name: /The API listens on port 8080/ }).click();
    await desk.show('memory-past');
  });

  /** The head of main after the first merge, from the log. */
  const firstMergedHead = async (): Promise<string | undefined> => {
    const log = z
      .object({ changesets: z.array(z.object({ changeset_id: z.string(), message: z.string() })) })
      .parse(done(await reader.call('memory_log', { project, all_parents: true, limit: 50 })));
    return log.changesets.find((changeset) => changeset.message === 'A note with text from a web page')?.changeset_id;
  };

  test('the owner walks the history and compares two changesets', async () => {
    await desk.goTo('History');
    await desk.page.getByRole('link', { name: /The port moved/ }).click();
    await desk.page.getByRole('article', { name: 'Changeset' }).getByText('test-model-1').waitFor();
    await desk.show('history');
    const boxes = desk.page.getByRole('checkbox', { name: /^Select .* to compare$/ });
    await boxes.last().check();
    await boxes.first().check();
    await desk
      .button(/^Compare/)
      .or(desk.page.getByRole('link', { name: /^Compare/ }))
      .first()
      .click();
    await desk.page.getByRole('heading', { name: 'Compare' }).waitFor();
    await desk.sees('The API listens on port');
    await desk.show('compare');
  });

  test('the owner sees who calls, and takes a token back', async () => {
    await desk.goTo('Agents');
    await desk.page.getByRole('link', { name: /^Otto/ }).click();
    await desk.page.getByRole('heading', { name: 'Tokens' }).waitFor();
    await desk.show('agents');
    await desk.button(/^Revoke token/).click();
    await desk.page.getByRole('dialog').getByRole('button', { name: 'Revoke token' }).click();
    await desk.page.getByText('revoked').first().waitFor();
    await expect(otto.client.call('memory_status', { project })).rejects.toThrow();
  });

  test('all of it survives a kill', async () => {
    const before = await context(reader);
    await serving.end('SIGKILL');
    serving = await household.serve({ ownerPage: true });
    const again = await household.client('sdk1', serving.mcp, readerToken);
    expect(await context(again)).toEqual(before);
    const chain = await household.command('lethe', 'verify-chain', project);
    expect(chain.code, JSON.stringify(chain.output)).toBe(0);
    const ledger = await household.command('charon', 'ledger', 'verify');
    expect(ledger.code, JSON.stringify(ledger.output)).toBe(0);
  });

  test('the page never complained: no error, no breach of the content policy', () => {
    expect(desk.complaints).toEqual([]);
  });

  test('axe finds nothing serious on any screen', () => {
    expect(desk.barriers).toEqual([]);
  });

  test('docs hold a picture of each screen', () => {
    const folder = resolve(import.meta.dirname, '../../docs/screens');
    expect(screens.filter((name) => !existsSync(join(folder, `${name}.png`)))).toEqual([]);
  });
});
