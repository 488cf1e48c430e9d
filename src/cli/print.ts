import type { Command } from 'commander';
import { visibleLines, visibleText } from '../platform/redaction/visible-text.js';

// Commands print only through these functions, which escape control characters, so that data cannot control the terminal.

export const print = (line: string): void => console.log(visibleText(line));

export const printError = (line: string): void => console.error(visibleText(line));

/** Prints an error and sets the exit code: 1 if the command was refused or failed, 2 if it was used wrongly. The command continues. */
export function fail(line: string, exitCode: 1 | 2 = 1): void {
  printError(line);
  process.exitCode = exitCode;
}

export const printJson = (value: unknown): void => console.log(visibleLines(JSON.stringify(value, null, 2)));

/** Prints an error of several lines, such as a stack. */
export const printFault = (text: string): void => console.error(visibleLines(text));

/**
 * Escapes the help and the errors of a command, because they quote its arguments. Makes the command throw a CommanderError instead of
 * ending the process.
 */
export function printVisibly(command: Command): Command {
  // Lets the caller set the exit code, after its own clean-up.
  command.exitOverride();
  command.configureOutput({
    writeOut: (text) => process.stdout.write(visibleLines(text)),
    writeErr: (text) => process.stderr.write(visibleLines(text)),
  });
  command.commands.forEach(printVisibly);
  return command;
}
