import { copyFileSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import { type Browser, chromium, type Page } from '@playwright/test';

const root = resolve(import.meta.dirname, '../..');
const shots = join(root, 'test-results/screens');
/** The screens that `docs/screens` shows. `UPDATE_SCREENS=1` renews them from what the journey saw. */
export const screens = [
  'acts-since',
  'agents',
  'audit',
  'backups',
  'branches',
  'cherry-pick',
  'conflict',
  'conflict-dark',
  'conflicts',
  'connect-agent',
  'empty',
  'history',
  'inbox',
  'ledger',
  'ledger-agent',
  'memory',
  'memory-filters',
  'memory-past',
  'owner-request',
  'compare',
  'registration',
  'review',
  'restored',
  'review-dark',
  'settings',
  'sign-in',
] as const;
export type ScreenName = (typeof screens)[number];

type Place =
  | 'Inbox'
  | 'Memory'
  | 'History'
  | 'Branches'
  | 'Conflicts'
  | 'Agents'
  | 'Ledger'
  | 'Audit'
  | 'Backups'
  | 'Settings';

const quietFlags = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** The desk in a real Chromium: whatever the page complains about is kept, and fails the journey. */
export class DeskPage {
  readonly page: Page;
  readonly complaints: string[] = [];
  /** What axe calls serious or critical, by screen. */
  readonly barriers: string[] = [];
  readonly #browser: Browser;

  private constructor(browser: Browser, page: Page) {
    this.#browser = browser;
    this.page = page;
  }

  static async open(url: string): Promise<DeskPage> {
    const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
    const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
    const browser = await chromium.launch({ executablePath, args: [...sandbox, ...quietFlags] });
    const context = await browser.newContext({
      viewport: { width: 1280, height: 800 },
      colorScheme: 'light',
      reducedMotion: 'reduce',
    });
    const page = await context.newPage();
    page.setDefaultTimeout(15_000);
    const desk = new DeskPage(browser, page);
    page.on('pageerror', (error) => desk.complaints.push(`error: ${error.message}`));
    page.on('console', (message) => {
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource:'))
        desk.complaints.push(`console: ${message.text()}`);
    });
    await page.exposeFunction('complain', (text: string) => desk.complaints.push(text));
    await page.addInitScript(() => {
      document.addEventListener('securitypolicyviolation', (event) => {
        const tell: unknown = Reflect.get(globalThis, 'complain');
        if (typeof tell === 'function') tell(`policy: ${event.violatedDirective} ${event.blockedURI}`);
      });
    });
    await page.goto(url);
    return desk;
  }

  /** A screenshot of the screen as it is now; what axe finds on it is kept in `barriers`. */
  async show(name: ScreenName): Promise<void> {
    await this.#audit(name);
    mkdirSync(shots, { recursive: true });
    const path = join(shots, `${name}.png`);
    await this.page.screenshot({ path });
    if (process.env.UPDATE_SCREENS !== '1') return;
    mkdirSync(join(root, 'docs/screens'), { recursive: true });
    copyFileSync(path, join(root, 'docs/screens', `${name}.png`));
  }

  /** What axe finds on the screen as it is now is kept in `barriers`, and so is what runs out of the window or a pane sideways. */
  async inspect(name: string): Promise<void> {
    await this.#audit(name);
    const over = await this.page.evaluate(() => {
      const parts = [document.documentElement, ...document.querySelectorAll('main, .mg-screen, .mg-pane')];
      return Math.max(...parts.map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth));
    });
    if (over > 0) this.barriers.push(`${name}: ${over} px wider than the window or its pane`);
  }

  async #audit(name: string): Promise<void> {
    await this.page.mouse.move(0, 0);
    await this.page.waitForTimeout(250);
    const found = await new AxeBuilder({ page: this.page }).analyze();
    const serious = found.violations.filter(
      (violation) => violation.impact === 'serious' || violation.impact === 'critical',
    );
    for (const { id, nodes } of serious)
      this.barriers.push(`${name}: ${id} at ${nodes.map((node) => node.target.join(' ')).join(', ')}`);
  }

  button(name: string | RegExp) {
    return this.page.getByRole('button', { name });
  }

  /** Goes to a screen by the rail, as the owner does. */
  async goTo(place: Place): Promise<void> {
    await this.page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: place }).click();
  }

  /** Does what command lines need the owner's word for, and gives it at the desk each time that it is asked for. */
  async allowing<Result>(work: () => Promise<Result>): Promise<Result> {
    let isOver = false;
    const result = work().finally(() => {
      isOver = true;
    });
    const asked = this.page.getByRole('dialog', { name: 'A command line asks for your word' });
    while (!isOver) {
      const allow = asked.getByRole('button', { name: 'Allow' }).first();
      // None may ask at the moment, or the one that asked may just have got its answer.
      await allow.click({ timeout: 300 }).catch(() => undefined);
    }
    return result;
  }

  /** Says that what was done outside the desk before it was opened was seen. */
  async seeActs(): Promise<void> {
    const dialog = this.page.getByRole('dialog', { name: 'Done outside the desk since last time' });
    await dialog.getByRole('button', { name: 'I have seen these' }).click();
    await dialog.waitFor({ state: 'detached' });
  }

  /** Waits until the text is somewhere on the page. */
  async sees(text: string | RegExp): Promise<void> {
    await this.page.getByText(text).first().waitFor({ state: 'visible' });
  }

  close(): Promise<void> {
    return this.#browser.close();
  }
}
