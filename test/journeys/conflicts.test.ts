import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { DeskPage } from './desk-page.ts';
import { Household, type Serving } from './running-app.ts';
import { done, field, Worker } from './worker.ts';

const project = 'harbor';
const contextSchema = z.object({
  head_changeset_id: z.string(),
  memories: z.array(z.object({ memory_id: z.string(), content: z.string() })),
});
const statusSchema = z.object({ actor_id: z.string(), refs: z.array(z.object({ head_changeset_id: z.string() })) });

const added = (memoryId: string, content: string, more: Record<string, unknown> = {}) => ({
  op_type: 'add_memory',
  payload: { memory_id: memoryId, content, ...more },
});
const corrected = (memoryId: string, content: string) => ({
  op_type: 'correct_memory',
  target_event_id: memoryId,
  payload: { content },
});

describe('conflicts at the desk', () => {
  const household = new Household();
  let serving: Serving;
  let desk: DeskPage;
  let mira: Worker;
  let otto: Worker;

  const connect = async (name: string): Promise<Worker> => {
    const { token } = await desk.allowing(() => household.agent(name, 'propose', project));
    const client = await household.client('sdk2-auto', serving.mcp, token);
    const status = statusSchema.parse(done(await client.call('memory_status', { project })));
    return new Worker(client, project, `refs/agents/${status.actor_id}/notes`);
  };
  const contents = async (): Promise<Readonly<Record<string, string>>> => {
    const read = contextSchema.parse(done(await mira.client.call('memory_context_at', { project, limit: 100 })));
    return Object.fromEntries(read.memories.map(({ memory_id: id, content }) => [id, content]));
  };
  const head = async (): Promise<string> =>
    contextSchema.parse(done(await mira.client.call('memory_context_at', { project }))).head_changeset_id;
  const mergeHere = async (button: string | RegExp): Promise<void> => {
    await desk.button(button).first().click();
    await desk.page.getByRole('dialog').getByRole('button', { name: button }).click();
    await desk.sees(/^Merged \(/);
  };
  const openProposal = async (title: RegExp): Promise<void> => {
    await desk.goTo('Inbox');
    await desk.page.getByRole('link', { name: title }).click();
  };

  beforeAll(async () => {
    serving = await household.serve({ ownerPage: true });
    desk = await DeskPage.open(z.string().parse(serving.owner));
    await desk.page.getByLabel('Project name').fill(project);
    await desk.button('Create project').click();
    await desk.sees('Nothing waits for you');
    mira = await connect('Mira');
    otto = await connect('Otto');
  });
  afterAll(async () => {
    await desk.close();
    await household.clear();
  });
  let broken = false;
  beforeEach(({ skip }) => {
    if (broken) skip('an earlier step failed');
  });
  afterEach(({ task }) => {
    broken ||= task.result?.state === 'fail';
  });

  test('two agents change the same memory: the second proposal names the conflict', async () => {
    await mira.branch(await head());
    await mira.commit('First facts', [
      added('port', 'The API listens on port 8080.', { kind: 'fact', scope: 'service' }),
      added('owner', 'Ana owns the billing service.', { kind: 'fact', scope: 'people' }),
    ]);
    await mira.propose(await head(), 'First facts about the service');
    await openProposal(/First facts about the service/);
    await desk.sees('Merges cleanly (fast-forward, 2 added)');
    await mergeHere('Approve and merge');

    const base = await head();
    await otto.branch(base);
    await otto.commit('The port moved', [corrected('port', 'The API listens on port 9090, behind the proxy.')]);
    await mira.commit('The port is encrypted', [corrected('port', 'The API listens on port 8443 with TLS.')]);
    await otto.propose(base, 'The port moved behind the proxy');
    await mira.propose(base, 'The port speaks TLS now');
    await openProposal(/The port moved behind the proxy/);
    await mergeHere('Approve and merge');

    await openProposal(/The port speaks TLS now/);
    await desk.sees('1 conflict: 1 concurrent edit');
    const sides = desk.page.getByRole('region', { name: 'Conflicts' });
    await sides.getByRole('region', { name: 'Base' }).getByText('port 8080').waitFor();
    await sides.getByRole('region', { name: /^Ours/ }).getByText('9090').waitFor();
    await sides
      .getByRole('region', { name: /^Theirs/ })
      .getByText('8443')
      .waitFor();
    await desk.sees('Settle the conflict below first.');
    await desk.show('conflict');
  });

  test('every open conflict of the project stands on one screen', async () => {
    await desk.goTo('Conflicts');
    await desk.page.getByRole('region', { name: 'concurrent edit' }).waitFor();
    await desk.show('conflicts');
    await desk.page.getByRole('link', { name: /The port speaks TLS now/ }).click();
    await desk.sees('1 conflict: 1 concurrent edit');
  });

  test('a draft is kept as it is typed, and is there after the desk was closed', async () => {
    await desk.page.keyboard.press('e');
    await desk.page
      .getByLabel('The text that is to stand')
      .fill('The API listens on port 8443 with TLS, behind the proxy.');
    await desk.sees('Draft saved');
    await desk.sees('The merge will write');
    await desk.page.reload();
    await desk.sees('Merges with 1 conflict settled');
    expect(await desk.page.getByLabel('The text that is to stand').inputValue()).toBe(
      'The API listens on port 8443 with TLS, behind the proxy.',
    );
    await desk.page.emulateMedia({ colorScheme: 'dark' });
    await desk.show('conflict-dark');
    await desk.page.emulateMedia({ colorScheme: 'light' });
  });

  test('the choice can be undone, and made again', async () => {
    await desk.page.keyboard.press('u');
    await desk.sees('1 conflict: 1 concurrent edit');
    await desk.page.getByRole('radio', { name: 'Keep ours' }).check();
    await desk.sees('Merges with 1 conflict settled');
    await desk.page.getByRole('radio', { name: 'Edit' }).check();
    await desk.page
      .getByLabel('The text that is to stand')
      .fill('The API listens on port 8443 with TLS, behind the proxy.');
    await desk.page.getByLabel('Note').fill('Both were right.');
    await desk.sees('Draft saved');
  });

  test('the merge writes what was settled, and nothing is lost', async () => {
    await mergeHere('Approve and merge');
    expect((await contents()).port).toBe('The API listens on port 8443 with TLS, behind the proxy.');
    await desk.goTo('Conflicts');
    await desk.sees('Nothing contradicts');
    await desk.page.getByText('Settled', { exact: true }).click();
    await desk.page.getByRole('link', { name: /The port speaks TLS now/ }).waitFor();
    await desk.goTo('Memory');
    await desk.page.getByRole('link', { name: /port 8443 with TLS, behind/ }).click();
    await desk.page.getByRole('region', { name: 'Lineage' }).getByText('9090').first().waitFor();
  });

  test('ticked changes become a cherry-pick that takes what they need along', async () => {
    const base = await head();
    const notes = new Worker(otto.client, project, `${otto.ref}-2`);
    await notes.branch(base);
    await notes.commit('Notes on the harbor', [
      added('crane', 'Crane 4 is out of service.', { kind: 'fact', scope: 'cranes' }),
      added('shift', 'The night shift starts at 22:00.', { kind: 'fact', scope: 'people' }),
      added('gossip', 'Somebody dislikes the canteen.', { kind: 'observation' }),
      {
        ...{ op_type: 'add_relationship', target_event_id: 'crane', resulting_event_id: 'shift' },
        payload: { kind: 'repaired by' },
      },
    ]);
    await notes.propose(base, 'Notes on the harbor');
    await openProposal(/Notes on the harbor/);
    await desk.page.getByRole('checkbox', { name: /^Pick: Related/ }).check();
    await desk.sees(/^needed by what is ticked$/);
    await desk.sees(/of 3 of 4 changes/);
    await desk.show('cherry-pick');
    await desk.page.getByLabel('Message of the cherry-pick').fill('Crane 4 and who repairs it');
    await desk.button('Propose the cherry-pick').click();
    await desk.sees('3 operations of that head, and nothing else of it');
    await mergeHere('Merge');
    const now = await contents();
    expect(now.crane).toBe('Crane 4 is out of service.');
    expect(now.shift).toBe('The night shift starts at 22:00.');
    expect(now.gossip).toBeUndefined();
  });

  test('a changeset is reverted by a proposal, and a merge is undone', async () => {
    await desk.goTo('History');
    await desk.page
      .getByRole('link', { name: /First facts/ })
      .first()
      .click();
    await desk.button('Revert…').click();
    await desk.page.getByRole('dialog').getByRole('button', { name: 'Propose the revert' }).click();
    await desk.page
      .getByRole('dialog')
      .getByText(/changed since/)
      .first()
      .waitFor();
    await desk.page.keyboard.press('Escape');

    await desk.goTo('Inbox');
    await desk.page.getByText('Merged', { exact: true }).click();
    await desk.page.getByRole('link', { name: /Crane 4 and who repairs it/ }).click();
    await desk.button('Undo this merge…').click();
    await desk.page.getByRole('dialog').getByRole('button', { name: 'Propose the undo' }).click();
    await desk.sees(/^Merges cleanly/);
    await mergeHere('Merge');
    expect(Object.keys(await contents()).toSorted()).toEqual(['owner', 'port']);
  });

  test('memory is filtered by what stands behind the button, and what is left out says why', async () => {
    await desk.goTo('Memory');
    await desk.button('More filters').click();
    await desk.page.getByRole('combobox', { name: 'Scope' }).fill('people');
    await desk.page.keyboard.press('Enter');
    await desk.page.getByRole('combobox', { name: 'Last changed by' }).click();
    await desk.page.getByRole('option', { name: 'Mira' }).click();
    await desk.show('memory-filters');
    await desk.page.keyboard.press('Escape');
    await desk.page.keyboard.press('Escape');
    await desk.button('More filters, 2 in use').waitFor();
    const listed = desk.page.getByRole('list', { name: 'Memories' });
    await listed.getByText('Ana owns the billing service.').waitFor();
    expect(await listed.getByRole('listitem').count()).toBe(1);
    await desk.page.getByText('Left out', { exact: true }).click();
    const leftOut = desk.page.getByRole('list', { name: 'Left out' });
    await leftOut
      .getByText(/^superseded at /)
      .first()
      .waitFor();
    await leftOut.getByRole('link', { name: /crane/ }).click();
    await desk.page.getByRole('article', { name: 'Memory' }).getByText('superseded', { exact: true }).waitFor();
  });

  test('branches stand where they are to main, and can be archived', async () => {
    await desk.goTo('Branches');
    await desk.sees(/\d+ behind/);
    await desk.show('branches');
    const row = desk.page.getByRole('listitem').filter({ hasText: 'notes-2' });
    await row.getByRole('button', { name: 'Archive' }).click();
    await desk.page.getByRole('dialog').getByRole('button', { name: 'Archive branch' }).click();
    await row.waitFor({ state: 'detached' });
    await desk.page.getByLabel('Archived too').check();
    await row.getByText('archived', { exact: true }).waitFor();
  });

  test('all of it verifies', async () => {
    expect((await household.command('lethe', 'verify-chain', project)).code).toBe(0);
    expect((await household.command('charon', 'ledger', 'verify')).code).toBe(0);
    expect(field(await mira.client.call('memory_status', { project }), 'project')).toBe(project);
  });

  test('the page never complained, and axe finds nothing serious', () => {
    expect(desk.complaints).toEqual([]);
    expect(desk.barriers).toEqual([]);
  });
});
