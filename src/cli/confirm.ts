import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fail, printError } from './print.js';

export const YES = ['--yes', 'do not ask for a confirmation'] as const;

export interface Confirmation {
  readonly yes?: boolean;
}

/** On a terminal, says what will be lost and asks a person. Returns false, with the exit code set, unless the person confirms. */
export async function confirm(loss: string, { yes }: Confirmation): Promise<boolean> {
  if (yes || !process.stdin.isTTY) return true;
  printError(`${loss} This cannot be undone.`);
  const isConfirmed = (await readLine('Type yes to confirm: ')).trim().toLowerCase() === 'yes';
  if (!isConfirmed) fail('Not confirmed: nothing was changed.');
  return isConfirmed;
}

/** Returns an empty text if the input ends without a line, or at Ctrl-C, which a readline on a terminal takes as the end. */
async function readLine(prompt: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr, prompt });
  lines.prompt();
  const [line = ''] = (await Promise.race([once(lines, 'line'), once(lines, 'close')])) as [string?];
  lines.close();
  return line;
}
