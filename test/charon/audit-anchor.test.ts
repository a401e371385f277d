import {
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { type CharonWorld, fillLedger, ledgerEntries, openWorld, subject } from './charon-world.ts';

let world: CharonWorld;
beforeEach(async () => {
  world = await openWorld();
});
afterEach(() => world.remove());

describe('the anchor', () => {
  test('C29 the anchor is a file of `seq hash` lines for the owner alone, and reaches the head', async () => {
    await fillLedger(world, 2);
    await world.charon.audit.flush();
    const lines = readFileSync(world.anchorPath, 'utf8').trimEnd().split('\n');
    const head = ledgerEntries(world).at(-1);
    expect(lines.at(-1)).toBe(`${head?.seq} ${head?.entry_hash}`);
    expect(statSync(world.anchorPath).mode & 0o777).toBe(0o600);
  });

  test('C29 a wholesale replacement by another true ledger of the same key is seen', async () => {
    await fillLedger(world, 3);
    await world.charon.audit.flush();
    const anchor = readFileSync(world.anchorPath);
    const other = await openWorld();
    other.clock.advance(1);
    await other.charon.audit.intent(subject('else'));
    await other.charon.close();
    writeFileSync(other.anchorPath, anchor);
    const replaced = await other.reopenAfterKill();
    const report = await replaced.charon.audit.verify();
    expect(report.findings.map((finding) => finding.where)).toContain(`anchor, seq ${ledgerEntries(world).length}`);
    await replaced.remove();
  });

  test('C29 a shorter anchor is a finding for good, even after it has grown again', async () => {
    await fillLedger(world, 2);
    await world.charon.audit.flush();
    await fillLedger(world, 1);
    world = await world.reopen();
    truncateSync(world.anchorPath, 0);
    world = await world.reopenAfterKill();
    await fillLedger(world, 1);
    await world.charon.audit.flush();
    const report = await world.charon.audit.verify();
    expect(report.findings).toMatchObject([{ where: 'anchor', problem: expect.stringContaining('shorter') }]);
    expect(ledgerEntries(world).map((entry) => entry.command)).toContain('audit.anchor_cut');
  });

  test('C29 a missing anchor is a finding', async () => {
    await fillLedger(world, 1);
    unlinkSync(world.anchorPath);
    expect((await world.charon.audit.verify()).findings).toMatchObject([
      { where: 'anchor', problem: expect.stringContaining('missing') },
    ]);
    expect(existsSync(world.anchorPath)).toBe(false);
  });

  test('C29 a changed line and a line out of order are findings', async () => {
    await fillLedger(world, 1);
    await world.charon.audit.flush();
    const text = readFileSync(world.anchorPath, 'utf8');
    const flipped = text.replace(/[0-9a-f]\n$/, (end) => (end.startsWith('0') ? '1\n' : '0\n'));
    writeFileSync(world.anchorPath, flipped);
    expect((await world.charon.audit.verify()).findings[0]?.problem).toContain('another entry');
    writeFileSync(world.anchorPath, text + text);
    expect((await world.charon.audit.verify()).findings[0]?.problem).toContain('does not ascend');
  });

  test('C29 a line that was written just before a crash is not written again', async () => {
    await fillLedger(world, 2);
    await world.charon.audit.flush();
    const text = readFileSync(world.anchorPath, 'utf8');
    world = await world.reopenAfterKill();
    await world.charon.audit.flush();
    expect(readFileSync(world.anchorPath, 'utf8')).toBe(text);
    expect((await world.charon.audit.verify()).findings).toEqual([]);
  });

  test('C29 an unfinished last line, left by a crash, is taken off and no finding', async () => {
    await fillLedger(world, 1);
    await world.charon.close();
    writeFileSync(world.anchorPath, `${readFileSync(world.anchorPath, 'utf8')}99 abc`);
    world = await world.reopenAfterKill();
    await fillLedger(world, 1);
    expect((await world.charon.audit.verify()).findings).toEqual([]);
  });

  test('C171 an anchor elsewhere is the owner’s alone, grows there, and verification says where it is without naming it', async () => {
    const disk = mkdtempSync(join(tmpdir(), 'memory-git-other-disk-'));
    onTestFinished(() => rmSync(disk, { recursive: true, force: true }));
    const anchorPath = join(disk, 'anchor');
    writeFileSync(anchorPath, '', { mode: 0o644 });
    const elsewhere = await openWorld({ anchorPath });
    onTestFinished(() => elsewhere.remove());
    await fillLedger(elsewhere, 2);
    await elsewhere.charon.audit.flush();
    expect(statSync(anchorPath).mode & 0o777).toBe(0o600);
    expect(existsSync(elsewhere.anchorPath)).toBe(false);
    const before = readFileSync(anchorPath, 'utf8');
    const again = await elsewhere.reopen();
    await fillLedger(again, 1);
    await again.charon.audit.flush();
    expect(readFileSync(anchorPath, 'utf8').startsWith(before)).toBe(true);
    const report = await again.charon.audit.verify();
    expect(report).toMatchObject({ ok: true, notes: [expect.stringContaining('outside the home')] });
    expect(JSON.stringify(report)).not.toContain(disk);

    // The disk was not mounted: what is there instead is an empty file.
    unlinkSync(anchorPath);
    expect((await again.charon.audit.verify()).findings).toMatchObject([
      { problem: expect.stringContaining('missing') },
    ]);
    const empty = await again.reopenAfterKill();
    expect((await empty.charon.audit.verify()).findings).toMatchObject([
      { problem: expect.stringContaining('shorter') },
    ]);
    await empty.charon.close();
  });

  test('C171 an anchor that cannot be opened keeps the engine from starting, without its path', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'memory-git-other-disk-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    for (const anchorPath of [folder, join(folder, 'unmounted', 'anchor'), devNull]) {
      const opening = openWorld({ anchorPath });
      await expect(opening).rejects.toMatchObject({ code: 'AUDIT_UNAVAILABLE', data: {} });
      await expect(opening).rejects.not.toThrow(folder);
    }
  });
});
