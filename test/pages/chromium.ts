import { chromium, type Browser } from 'playwright-core';
import { findProgram } from '../setup/receivers/programs.js';

/** The program, or null if there is none. */
export const CHROMIUM = findProgram('chromium', 'CHROMIUM');
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
