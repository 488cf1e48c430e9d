import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';
import { describeWith } from '../setup/describe-with.js';
import { findProgram } from '../setup/receivers/programs.js';

/**
 * The path of the browser, or null if there is none. Prefers Debian's headless shell, which takes two thirds of the CPU time of the whole
 * browser.
 */
export const CHROMIUM =
  findProgram('chromium-headless-shell', 'CHROMIUM') ?? findProgram('chromium', 'CHROMIUM');
/** As `describe`, for tests that need the browser. */
export const describeInChromium = (title: string, tests: () => void): void =>
  describeWith(CHROMIUM, 'chromium (or CHROMIUM)', title, tests);

export const SCREENS = { phone: { width: 390, height: 844 }, desktop: { width: 1280, height: 800 } } as const;
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
/** Each screen with each colour scheme. */
export const LOOKS = (['phone', 'desktop'] as const).flatMap((screen) =>
  (['light', 'dark'] as const).map((colorScheme) => ({ screen, colorScheme })),
);
/** Without these flags, the browser sends requests to its vendor. */
const OFFLINE = [
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-quic',
];
/** Without this flag, the browser loads two pages for its address bar in each window, which takes a third of its CPU time. */
const WITHOUT_ADDRESS_BAR = '--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup';

const WAIT_MS = 90_000;

/** Starts a headless browser, in which each wait may take as long as on a busy machine. */
export async function launchChromium(): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: CHROMIUM!,
    args: ['--no-sandbox', ...OFFLINE, WITHOUT_ADDRESS_BAR],
  });
  return browser.on('context', (context) => context.setDefaultTimeout(WAIT_MS));
}

/** Takes a screenshot of the whole page if PICTURES_FOLDER is set. */
export async function picture(page: Page, name: string): Promise<void> {
  const { PICTURES_FOLDER } = process.env;
  if (PICTURES_FOLDER !== undefined)
    await page.screenshot({ path: join(PICTURES_FOLDER, `${name}.png`), fullPage: true });
}

/** Returns the faults that axe finds on the page in its current state, by rule and element. */
export async function faultsOf(page: Page): Promise<string[]> {
  // Evaluates axe through the debugger, since the policies of our pages forbid a script element.
  await page.evaluate(await readFile(AXE, 'utf8'));
  // The script is text, because this repository has the types of Node, not those of a browser.
  return page.evaluate<string[]>(
    'axe.run().then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`)))',
  );
}
