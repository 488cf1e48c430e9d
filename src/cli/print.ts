import type { Command } from 'commander';
import { CORE_SCHEMA, dump } from 'js-yaml';
import { visibleLines, visibleText } from '../platform/redaction/visible-text.js';

// Commands print only through these functions, which escape control characters, so that data cannot control the terminal.

export const print = (line: string): void => console.log(visibleText(line));

export const printError = (line: string): void => console.error(visibleText(line));

export const JSON_OPTION = ['--json', 'print the result, or the error, as JSON'] as const;

export const printJson = (value: unknown): void => console.log(visibleLines(JSON.stringify(value, null, 2)));

/** Prints an object for people, with the same values as printJson. */
export function printYaml(value: object): void {
  const values: unknown = JSON.parse(JSON.stringify(value));
  console.log(visibleLines(dump(values, { schema: CORE_SCHEMA, lineWidth: 100 }).trimEnd()));
}

/** Prints several lines, such as a stack or a question. */
export const printFault = (text: string): void => console.error(visibleLines(text));

/**
 * Escapes the help and the errors of a command, because they quote its arguments. Makes the command throw a CommanderError instead of
 * ending the process. With `isJson`, the command does not print the error.
 */
export function printVisibly(command: Command, isJson: boolean): Command {
  // Lets the caller set the exit code, after its own clean-up.
  command.exitOverride();
  command.configureOutput({
    writeOut: (text) => process.stdout.write(visibleLines(text)),
    writeErr: (text) => isJson || process.stderr.write(visibleLines(text)),
  });
  for (const sub of command.commands) printVisibly(sub, isJson);
  return command;
}
