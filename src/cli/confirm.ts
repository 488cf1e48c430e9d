import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { CommandError } from './command-error.js';
import { printError } from './print.js';

export const YES = ['--yes', 'do not ask for a confirmation'] as const;

export interface Confirmation {
  readonly yes?: boolean;
}

/** Asks the person at a terminal to confirm the effect at `place`. Throws CommandError unless the person confirms. */
export async function confirm(place: string, effect: string, { yes }: Confirmation): Promise<void> {
  if (yes || !process.stdin.isTTY) return;
  printError(`${place}: ${effect}`);
  if ((await readLine('Type yes to confirm: ')).trim().toLowerCase() !== 'yes')
    throw new CommandError('not_confirmed', 'Not confirmed: nothing was changed.');
}

/** Returns an empty text if the input ends without a line. On a terminal, Ctrl-C ends the input. */
async function readLine(prompt: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr, prompt });
  lines.prompt();
  const [line = ''] = (await Promise.race([once(lines, 'line'), once(lines, 'close')])) as [string?];
  lines.close();
  return line;
}
