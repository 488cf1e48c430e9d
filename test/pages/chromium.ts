import { createRequire } from 'node:module';
import { chromium, type Browser, type Page } from 'playwright-core';
import { findProgram } from '../setup/receivers/programs.js';

/** The program, or null if there is none. */
export const CHROMIUM = findProgram('chromium', 'CHROMIUM');
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
/** Without these, the browser calls its maker. */
const OFFLINE = [
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-quic',
];

/** Starts a browser without a screen. */
export const launchChromium = (): Promise<Browser> =>
  chromium.launch({ executablePath: CHROMIUM!, args: ['--no-sandbox', ...OFFLINE] });

/** Returns what axe finds wrong, by the rule and the element. */
export async function faultsOf(page: Page): Promise<string[]> {
  // Not as a script of the page, which the policy of the page forbids.
  const session = await page.context().newCDPSession(page);
  await session.send('Page.setBypassCSP', { enabled: true });
  await page.reload();
  await page.addScriptTag({ path: AXE });
  // As text: the types of this repository are those of Node, not of a browser.
  return page.evaluate<string[]>(
    'axe.run().then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`)))',
  );
}
