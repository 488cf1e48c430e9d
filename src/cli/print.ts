import type { Command } from 'commander';
import { visibleLines, visibleText } from '../platform/redaction/visible-text.js';

/** Prints a line. All output of the commands goes through this file, so that data cannot send control sequences to the terminal. */

export const print = (line: string): void => console.log(visibleText(line));

export const printError = (line: string): void => console.error(visibleText(line));

/** Prints JSON on several lines. */
export const printJson = (value: unknown): void => console.log(visibleLines(JSON.stringify(value, null, 2)));

/** Prints a text of several lines, such as a stack. */
export const printFault = (text: string): void => console.error(visibleLines(text));

/** Escapes the help and the errors of a command too, since they quote its arguments. */
export function printVisibly(command: Command): Command {
  command.configureOutput({
    writeOut: (text) => process.stdout.write(visibleLines(text)),
    writeErr: (text) => process.stderr.write(visibleLines(text)),
  });
  command.commands.forEach(printVisibly);
  return command;
}
