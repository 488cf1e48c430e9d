import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';
import { findProgram } from './receivers/programs.js';

/** Null if there is none here. */
export const CHROMIUM = findProgram('chromium', 'CHROMIUM');
/** Where the pictures of this run are kept. */
export const PICTURES = process.env.PICTURES_FOLDER ?? join('node_modules', '.cache', 'pictures');
export const SCREENS = { phone: { width: 390, height: 844 }, desktop: { width: 1280, height: 800 } } as const;

/** Without these, the browser calls its maker. */
const OFFLINE = [
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-quic',
];
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

export const launch = (executablePath: string): Promise<Browser> =>
  chromium.launch({ executablePath, args: ['--no-sandbox', ...OFFLINE] });

/** Returns what axe finds wrong on the page as it is, by the rule and the element. */
export async function faultsOf(page: Page): Promise<string[]> {
  // Not as a script element, which the policy of the page forbids: the text is evaluated by the debugger.
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(await readFile(AXE, 'utf8'));
  // As text: the types of this repository are those of Node, not of a browser.
  return page.evaluate<string[]>(
    'axe.run().then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`)))',
  );
}
