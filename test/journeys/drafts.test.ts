import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { DeskPage } from './desk-page.ts';
import { Household, type Serving } from './running-app.ts';
import { done, Worker } from './worker.ts';

const project = 'drafts';
const contextSchema = z.object({
  head_changeset_id: z.string(),
  memories: z.array(z.object({ memory_id: z.string(), content: z.string() })),
});

const added = (memoryId: string, content: string) => ({
  op_type: 'add_memory',
  payload: { memory_id: memoryId, content },
});
const corrected = (memoryId: string, content: string) => ({
  op_type: 'correct_memory',
  target_event_id: memoryId,
  payload: { content },
});
/** How long another window may take to follow. */
const soon = { timeout: 15_000 };
/** Right-to-left, an override, zero-width and markup: all of it text. */
const hostile = '<img src=x onerror=alert(1)> שלום \u202Egnp.exe \u200B';
const long = (word: string): string => `${word} ${`${word} of the harbor `.repeat(900)}`.slice(0, 16_000);

describe('drafts at the desk', () => {
  const household = new Household();
  let serving: Serving;
  let desk: DeskPage;
  let agent: Awaited<ReturnType<Household['agent']>>;
  let mira: Worker;
  let branches = 0;

  const head = async (): Promise<string> =>
    contextSchema.parse(done(await mira.client.call('memory_context_at', { project }))).head_changeset_id;
  const contents = async (): Promise<Readonly<Record<string, string>>> => {
    const read = contextSchema.parse(done(await mira.client.call('memory_context_at', { project, limit: 100 })));
    return Object.fromEntries(read.memories.map(({ memory_id: id, content }) => [id, content]));
  };
  /** A proposal of these ops on a new branch of `from`. */
  const propose = async (
    message: string,
    ops: readonly Record<string, unknown>[],
    from?: string,
  ): Promise<{ readonly id: string; readonly base: string }> => {
    const base = from ?? (await head());
    branches += 1;
    const work = new Worker(mira.client, project, `refs/agents/${agent.actorId}/b-${branches}`);
    await work.branch(base);
    await work.commit(message, ops);
    return { id: await work.propose(base, message), base };
  };
  /** Reviews and merges by the command line, as somebody beside the desk does. */
  const land = async (id: string): Promise<void> => {
    const shown = z
      .object({ proposal_digest: z.string(), target_head: z.string() })
      .parse((await household.command('charon', 'proposal', 'show', id)).output);
    const state = ['--digest', shown.proposal_digest, '--target-head', shown.target_head];
    const allowed = (...words: readonly string[]) =>
      desk.allowing(() => household.command('charon', 'proposal', ...words));
    expect(await allowed('review', id, 'approve', ...state)).toMatchObject({ code: 0 });
    expect(await allowed('merge', id)).toMatchObject({ code: 0 });
  };
  const edit = () => desk.page.getByLabel('The text that is to stand');

  beforeAll(async () => {
    serving = await household.serve({ ownerPage: true });
    desk = await DeskPage.open(z.string().parse(serving.owner));
    await desk.page.getByLabel('Project name').fill(project);
    await desk.button('Create project').click();
    await desk.sees('Nothing waits for you');
    agent = await desk.allowing(() => household.agent('Mira', 'propose', project));
    const client = await household.client('sdk2-auto', serving.mcp, agent.token);
    mira = new Worker(client, project, '');
    const first = ['port', 'owner', 'crane', 'shift'].map((id) => added(id, `${id} at first`));
    await land((await propose('First facts', first)).id);
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

  test('what is typed stays under the hand when main moves for another reason', async () => {
    const base = await head();
    await land((await propose('Port of ours', [corrected('port', 'port of ours')], base)).id);
    await propose('Port of theirs', [corrected('port', 'port of theirs')], base);
    await desk.page.getByRole('link', { name: /Port of theirs/ }).click();
    await desk.sees('1 conflict: 1 concurrent edit');
    await desk.page.keyboard.press('n');
    await desk.page.keyboard.press('e');
    await edit().fill('both ports, ');
    const other = await propose('Crane', [corrected('crane', 'crane moved')]);
    await edit().pressSequentially('typed ');
    await land(other.id);
    await edit().pressSequentially('while main moved');
    await desk.sees('The target moved while this was open.');
    expect(await edit().inputValue()).toBe('both ports, typed while main moved');
    expect(await edit().evaluate((element) => element === document.activeElement)).toBe(true);
    await desk.sees('Draft saved');
  });

  test('another window shows what this one keeps, and the other way round', async () => {
    const [other] = await Promise.all([
      desk.page.waitForEvent('popup'),
      desk.page.evaluate(() => void window.open(location.href)),
    ]);
    const there = other.getByLabel('The text that is to stand');
    await expect.poll(() => there.inputValue(), soon).toBe('both ports, typed while main moved');
    await there.fill('written over there');
    await expect.poll(() => edit().inputValue(), soon).toBe('written over there');
    await edit().fill('and back here');
    await expect.poll(() => there.inputValue(), soon).toBe('and back here');
    await other.close();
  });

  test('when main says something else of the same memory, the text stays and counts once it is kept', async () => {
    await edit().fill('a text about what was');
    await desk.sees('Draft saved');
    await land((await propose('Port again', [corrected('port', 'port of ours, again')])).id);
    await desk.sees('Not saved: the sides changed');
    await desk.sees('1 conflict: 1 concurrent edit');
    expect(await edit().inputValue()).toBe('a text about what was');
    await desk.inspect('moved sides');
    await desk.button('Keep it for what stands now').click();
    await desk.sees('Draft saved');
    await desk.button('Approve and merge').first().click();
    await desk.page.getByRole('dialog').getByRole('button', { name: 'Approve and merge' }).click();
    await desk.sees(/^Merged \(/);
    expect((await contents()).port).toBe('a text about what was');
  });

  test('what was typed for a proposal that its author takes back can still be read', async () => {
    const base = await head();
    await land((await propose('Owner of ours', [corrected('owner', 'owner of ours')], base)).id);
    const { id } = await propose('Owner of theirs', [corrected('owner', 'owner of theirs')], base);
    await desk.goTo('Inbox');
    await desk.page.getByRole('link', { name: /Owner of theirs/ }).click();
    await desk.sees('1 conflict: 1 concurrent edit');
    await desk.page.keyboard.press('e');
    await edit().fill('words that took an hour');
    done(await mira.client.call('memory_merge_cancel', { proposal_id: id }));
    await desk.sees('Withdrawn by its author');
    expect(await desk.page.getByLabel('What was written here, and not merged').inputValue()).toBe(
      'words that took an hour',
    );
  });

  test('by the keyboard alone from the inbox to a merged conflict; hostile and long texts do nothing', async () => {
    const base = await head();
    await land((await propose('Shift of ours', [corrected('shift', `${hostile}${long('ours')}`)], base)).id);
    await propose('Shift of theirs', [corrected('shift', `${long('theirs')}${hostile}`)], base);
    await desk.goTo('Inbox');
    await desk.page.getByRole('link', { name: /Shift of theirs/ }).waitFor();
    const { keyboard } = desk.page;
    await keyboard.press('Escape');
    await desk.sees('No proposal is open');
    await keyboard.press('j');
    await desk.sees('1 conflict: 1 concurrent edit');
    await desk.inspect('long and hostile sides');
    for (const side of ['1', '2', '3']) await keyboard.press(side);
    await keyboard.press('n');
    for (let step = 0; step < 40; step += 1) {
      await keyboard.press('Tab');
      if ((await desk.page.evaluate(() => document.activeElement?.getAttribute('data-choice'))) !== null) break;
    }
    await keyboard.press('Space');
    await keyboard.press('ArrowRight');
    await desk.sees('Merges with 1 conflict settled');
    await keyboard.press('m');
    await desk.page.getByRole('dialog').waitFor();
    await keyboard.press('Enter');
    await desk.sees(/^Merged \(/);
    expect((await contents()).shift).toMatch(/^theirs /);
  });

  test('at 200 %, also of the smallest window, nothing is cut off, and axe finds nothing serious', async () => {
    const base = await head();
    await land((await propose('Crane of ours', [corrected('crane', `${long('ours')}${hostile}`)], base)).id);
    const { id } = await propose('Crane of theirs', [corrected('crane', `${hostile}${long('theirs')}`)], base);
    for (const [width, height] of [
      [640, 400],
      [360, 400],
    ] as const) {
      await desk.page.setViewportSize({ width, height });
      const places = width === 640 ? [] : ['conflicts', 'branches', 'memory', 'inbox'];
      for (const place of [...places, `inbox/${id}`]) {
        await desk.page.evaluate((name) => {
          location.hash = `#/${name}`;
        }, place);
        if (place.endsWith(id)) await desk.sees('1 conflict: 1 concurrent edit');
        await desk.inspect(`${place} at ${width} px`);
      }
    }
    await desk.page.setViewportSize({ width: 1280, height: 800 });
  });

  test('a choice that cannot be carried out beside another one says so, and settles nothing', async () => {
    const decision = { kind: 'decision', scope: 'cables' };
    const first = [{ op_type: 'add_memory', payload: { memory_id: 'cable', content: 'one cable', ...decision } }];
    await land((await propose('Cable', first)).id);
    const base = await head();
    await land((await propose('Cable of ours', [corrected('cable', 'two cables')], base)).id);
    const { id } = await propose(
      'Cable of theirs',
      [
        corrected('cable', 'three cables'),
        { op_type: 'add_memory', payload: { memory_id: 'rope', content: 'no cables', ...decision } },
      ],
      base,
    );
    await desk.page.evaluate((name) => {
      location.hash = `#/inbox/${name}`;
    }, id);
    const card = (name: RegExp) => desk.page.getByRole('article', { name });
    const settle = async (name: RegExp, text: string): Promise<void> => {
      await card(name).getByRole('radio', { name: 'Edit' }).check();
      await card(name).getByLabel('The text that is to stand').fill(text);
      await card(name).getByText('Draft saved').waitFor();
    };
    await settle(/concurrent edit/, 'four cables');
    await desk.sees('1 of 2 settled');
    await settle(/contradiction/, 'five cables');
    await desk.sees(/cannot be carried out as things stand, so the conflict is not settled: another resolution/);
    await desk.sees('1 of 2 settled');
    await card(/contradiction/)
      .getByRole('radio', { name: 'Keep ours' })
      .check();
    await desk.sees('2 of 2 settled');
  });

  test('many conflicts in one proposal are read page by page, and each can be settled', async () => {
    const ids = Array.from({ length: 60 }, (_, index) => `many-${index}`);
    await land(
      (
        await propose(
          'Many',
          ids.map((id) => added(id, `${id} at first`)),
        )
      ).id,
    );
    const base = await head();
    await land(
      (
        await propose(
          'Many of ours',
          ids.map((id) => corrected(id, `${id} ours`)),
          base,
        )
      ).id,
    );
    await propose(
      'Many of theirs',
      ids.map((id) => corrected(id, `${id} theirs`)),
      base,
    );
    await desk.goTo('Conflicts');
    await desk.page
      .getByRole('link', { name: /many-\d/ })
      .first()
      .waitFor();
    await desk.sees('and 40 more, listed in their proposals');
    await desk.inspect('many conflicts');
    await desk.page
      .getByRole('link', { name: /Many of theirs/ })
      .first()
      .click();
    await desk.sees('0 of 60 settled');
    await desk.button(/^Show more conflicts/).click();
    await expect.poll(() => desk.page.locator('[data-conflict]').count(), { timeout: 60_000 }).toBe(60);
    await desk.page.locator('[data-conflict]').last().getByRole('radio', { name: 'Take theirs' }).check();
    await desk.page.getByText('1 of 60 settled').waitFor({ timeout: 60_000 });
  });

  test('in recovery a choice is refused where it is made, and nothing else changes', async () => {
    const { id } = z
      .object({ proposals: z.array(z.object({ proposal_id: z.string(), message: z.string() })) })
      .parse((await household.command('charon', 'proposal', 'ls', project)).output)
      .proposals.filter(({ message }) => message === 'Cable of theirs')
      .map(({ proposal_id }) => ({ id: proposal_id }))[0] ?? { id: '' };
    await serving.end('SIGTERM');
    const reading = await household.serve({ ownerPage: true, env: { CHARON_RECOVERY_READONLY: '1' } });
    const page = await DeskPage.open(z.string().parse(reading.owner));
    await page.sees(/proposals? waiting$/);
    await page.page.evaluate((name) => {
      location.hash = `#/inbox/${name}`;
    }, id);
    await page.sees('2 of 2 settled');
    await page.page
      .getByRole('article', { name: /contradiction/ })
      .getByRole('radio', { name: 'Take theirs' })
      .check();
    await page.sees('Not saved');
    await page.inspect('recovery');
    expect([page.complaints, page.barriers]).toEqual([[], []]);
    await page.close();
  });

  test('the page never complained, and axe found nothing serious', () => {
    expect(desk.complaints).toEqual([]);
    expect(desk.barriers).toEqual([]);
  });
});
