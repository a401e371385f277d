import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { DeskPage } from './desk-page.ts';
import { Household, type Serving } from './running-app.ts';

const faultSchema = z.object({ fault: z.object({ code: z.string() }) });
const household = new Household();
let serving: Serving;
let desk: DeskPage;
let principal = '';

beforeAll(async () => {
  serving = await household.serve({ ownerPage: true });
  principal = (await household.agent('Mira', 'propose', 'demo')).principalId;
  desk = await DeskPage.open(z.string().parse(serving.owner));
});
afterAll(async () => {
  await desk.close();
  await household.clear();
});

/** What the pages complained of that were closed. */
const complaints: string[] = [];

/** Ends the engine, starts it again, and opens the desk anew. */
async function restart(): Promise<void> {
  await serving.end('SIGTERM');
  complaints.push(...desk.complaints, ...desk.barriers);
  await desk.close();
  serving = await household.serve({ ownerPage: true });
  desk = await DeskPage.open(z.string().parse(serving.owner));
}

const mint = () => household.command('charon', 'obol', 'mint', principal);
const asked = () => desk.page.getByRole('dialog', { name: 'A command line asks for your word' });

test('on opening, the desk lists what command lines did, until the owner has seen it', async () => {
  const dialog = desk.page.getByRole('dialog', { name: 'Done outside the desk since last time' });
  await dialog.getByText('Mint a token').waitFor();
  await dialog.getByText('Create or update an agent').waitFor();
  expect(await dialog.getByText('nobody was asked').count()).toBe(2);
  await desk.show('acts-since');
  await desk.seeActs();
  await desk.page.reload();
  await desk.sees('Begin with a project');
  expect(await dialog.count()).toBe(0);
});

test('while the desk is open a command that gives power waits for a click, and runs only when it is allowed', async () => {
  const refused = mint();
  await asked().getByText(`charon obol mint ${principal} --expires 7d`).waitFor();
  await asked().getByText('Exactly as it will run').click();
  await asked().getByText(`"principal_id":"${principal}"`).waitFor();
  await desk.show('owner-request');
  await asked().getByRole('button', { name: 'Refuse' }).click();
  const answer = await refused;
  expect([
    answer.code,
    faultSchema.parse(JSON.parse(answer.errors.split('\n').findLast((line) => line.startsWith('{')) ?? '')).fault.code,
  ]).toEqual([1, 'OWNER_REFUSED']);

  const putOff = mint();
  await asked().getByRole('button', { name: 'Later' }).click();
  await asked().waitFor({ state: 'detached' });
  await desk.sees('1 command from outside waits for your word.');
  await desk.button('Look').click();
  await asked().getByRole('button', { name: 'Allow' }).click();
  expect((await putOff).code).toBe(0);
  await asked().waitFor({ state: 'detached' });
});

test('the audit tells what was done outside the desk, and how it was confirmed', async () => {
  await desk.goTo('Audit');
  await desk.page.getByLabel('Only entries of this page with these words').fill('owner_refused');
  await desk.sees('denied OWNER_REFUSED');
  await desk.page.getByLabel('Only entries of this page with these words').fill('');
  await desk.show('audit');
  await desk.page.getByText('Acts of power outside the desk', { exact: true }).click();
  await desk.sees('allowed at the desk');
});

test('the owner sets what is asked for while no desk is open, and who may merge', async () => {
  await desk.goTo('Settings');
  await desk.page.getByText('Ask for a passphrase').click();
  const dialog = desk.page.getByRole('dialog', { name: 'Passphrase for commands from outside' });
  await dialog.getByLabel('Passphrase', { exact: true }).fill('twelve or more');
  expect(await dialog.getByRole('button', { name: 'Set the passphrase' }).isDisabled()).toBe(true);
  await dialog.getByLabel('The same again').fill('twelve or more');
  await dialog.getByRole('button', { name: 'Set the passphrase' }).click();
  await dialog.waitFor({ state: 'detached' });
  await desk.button('Change the passphrase…').waitFor();
  await desk.page.getByRole('region', { name: 'Recovery passphrase' }).getByRole('button', { name: 'Set it…' }).click();
  const recovery = desk.page.getByRole('dialog', { name: 'Recovery passphrase' });
  await recovery.getByLabel('Passphrase', { exact: true }).fill('another dozen of them');
  await recovery.getByLabel('The same again').fill('another dozen of them');
  await recovery.getByRole('button', { name: 'Set the passphrase' }).click();
  await recovery.waitFor({ state: 'detached', timeout: 30_000 });
  await desk.sees(/every backup holds the keys/);
  await desk.show('settings');
  await desk.page.getByRole('switch', { name: 'You may merge what you proposed yourself' }).click();
  const stored = await household.command('charon', 'owner', 'confirm');
  expect(stored).toMatchObject({ code: 0, output: { owner_confirm: 'passphrase', passphrase_set: true } });
  await desk.page.getByText('Ask for nothing').click();
  await desk.button('Change the passphrase…').waitFor({ state: 'detached' });
});

test('a backup is made, looked into and rehearsed; the next start goes back to it, read-only until it was checked', async () => {
  await desk.page.getByRole('link', { name: 'Inbox' }).click();
  await desk.page.getByLabel('Project name').fill('demo');
  await desk.button('Create project').click();
  await desk.sees('Nothing waits for you');
  await desk.goTo('Backups');
  await desk.button('Back up now').first().click();
  await desk.page.getByRole('list', { name: 'Backups' }).getByText('verified').waitFor({ timeout: 60_000 });
  await desk.page.getByRole('list', { name: 'Backups' }).getByRole('link').first().click();
  await desk.button('Inspect').click();
  await desk.sees('Everything in it verifies.');
  await desk.button('Rehearse').click();
  await desk.page.getByRole('region', { name: 'This backup' }).getByText('never').waitFor({ state: 'detached' });
  await desk.show('backups');

  await desk.button('Restore…').click();
  const dialog = desk.page.getByRole('dialog', { name: 'Restore this backup' });
  const label = (await dialog.getByText(/^Type the first 8 characters/).textContent()) ?? '';
  await dialog.getByRole('textbox').fill(label.slice(-8));
  await dialog.getByRole('button', { name: 'Restore at the next start' }).click();
  await desk.sees('Waiting for the next start');
  await restart();
  await desk.sees(/everything can be read, nothing is written/);
  await desk.goTo('Backups');
  await desk.sees('Restored, waiting for your check');
  await desk.show('restored');
  await desk.button('Check everything and lift it').click();
  await desk.sees(/Everything agrees/);
  await restart();
  await desk.sees('Nothing waits for you');
  // The desk was opened once in between, when nothing could be noted as seen.
  await desk.seeActs();
  expect(await desk.page.getByText(/everything can be read, nothing is written/).count()).toBe(0);
  await desk.goTo('Agents');
  await desk.page.getByRole('link', { name: /^Mira/ }).click();
  const waiting = desk.page.getByRole('row').filter({ hasText: 'from before a restore' });
  expect(await waiting.count()).toBe(2);
  await waiting
    .first()
    .getByRole('button', { name: /^Approve token/ })
    .click();
  await expect.poll(() => waiting.count()).toBe(1);
  expect((await household.command('charon', 'reconcile')).code).toBe(0);
});

test('the page never complained, and axe finds nothing serious', () => {
  expect([...complaints, ...desk.complaints, ...desk.barriers]).toEqual([]);
});
