import { createInterface } from 'node:readline';
import { CommandError } from './command-error.js';
import { printFault } from './print.js';

export const YES = ['--yes', 'do not ask for a confirmation'] as const;

export interface Confirmation {
  readonly yes?: boolean;
}

/** Asks the person at a terminal to confirm the effect at `place`, of one or more lines. Throws CommandError unless the person confirms. */
export async function confirm(place: string, effect: string, options: Confirmation): Promise<void> {
  if (!(await isConfirmed(place, effect, options)))
    throw new CommandError('not_confirmed', 'Not confirmed: nothing was changed.');
}

/** Returns whether the person at a terminal confirms the effect at `place`. Throws CommandError at Ctrl-C. */
export async function isConfirmed(place: string, effect: string, { yes }: Confirmation): Promise<boolean> {
  if (yes || !process.stdin.isTTY) return true;
  printFault(`${place}: ${effect}`);
  return (await readLine('Type yes to confirm: ')).trim().toLowerCase() === 'yes';
}

/** Returns an empty text if the input ends, or has ended, without a line. */
async function readLine(prompt: string): Promise<string> {
  if (process.stdin.readableEnded) return '';
  const lines = createInterface({ input: process.stdin, output: process.stderr, prompt });
  try {
    return await new Promise((resolve, reject) => {
      lines.once('line', resolve).once('close', () => resolve(''));
      lines.once('SIGINT', () => reject(new CommandError('interrupted', 'Interrupted.', 130)));
      lines.prompt();
    });
  } finally {
    lines.close();
  }
}
