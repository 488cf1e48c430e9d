import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';
import { findProgram } from '../setup/receivers/programs.js';

/** The program, or null if there is none. Debian's shell without a screen takes two thirds of the CPU time of the whole browser. */
export const CHROMIUM =
  findProgram('chromium-headless-shell', 'CHROMIUM') ?? findProgram('chromium', 'CHROMIUM');
export const SCREENS = { phone: { width: 390, height: 844 }, desktop: { width: 1280, height: 800 } } as const;
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
/** Each screen with each colour scheme. */
export const LOOKS = (['phone', 'desktop'] as const).flatMap((screen) =>
  (['light', 'dark'] as const).map((colorScheme) => ({ screen, colorScheme })),
);
/** Without these, the browser calls its maker. */
const OFFLINE = [
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-quic',
];
/** Without this, the browser loads two pages for its address bar in each window, which takes a third of its CPU time. */
const WITHOUT_ADDRESS_BAR = '--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup';

/** Starts a browser without a screen. */
export const launchChromium = (): Promise<Browser> =>
  chromium.launch({
    executablePath: CHROMIUM!,
    args: ['--no-sandbox', ...OFFLINE, WITHOUT_ADDRESS_BAR],
  });

/** Takes a picture of the whole page if PICTURES_FOLDER is set. */
export async function picture(page: Page, name: string): Promise<void> {
  const { PICTURES_FOLDER } = process.env;
  if (PICTURES_FOLDER !== undefined)
    await page.screenshot({ path: join(PICTURES_FOLDER, `${name}.png`), fullPage: true });
}

/** Returns what axe finds wrong on the page as it is, by the rule and the element. */
export async function faultsOf(page: Page): Promise<string[]> {
  // Evaluated by the debugger, since the policies of our pages forbid a script element.
  await page.evaluate(await readFile(AXE, 'utf8'));
  // As text: the types of this repository are those of Node, not of a browser.
  return page.evaluate<string[]>(
    'axe.run().then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`)))',
  );
}
