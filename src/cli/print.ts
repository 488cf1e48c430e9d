import type { Command } from 'commander';
import { visibleLines, visibleText } from '../platform/redaction/visible-text.js';

/** All output of the commands goes through this file: what comes from data must not reach the terminal as an instruction. */

export const print = (line: string): void => console.log(visibleText(line));

export const printError = (line: string): void => console.error(visibleText(line));

/** JSON over several lines. */
export const printJson = (value: unknown): void => console.log(visibleLines(JSON.stringify(value, null, 2)));

/** A text of several lines, such as a stack. */
export const printFault = (text: string): void => console.error(visibleLines(text));

/** Makes the help and the errors of a command, which quote its arguments, visible text as well. */
export function printVisibly(command: Command): Command {
  command.configureOutput({
    writeOut: (text) => process.stdout.write(visibleLines(text)),
    writeErr: (text) => process.stderr.write(visibleLines(text)),
  });
  command.commands.forEach(printVisibly);
  return command;
}
