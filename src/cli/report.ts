import { inspect } from 'node:util';
import { CommanderError } from 'commander';
import { MigrationError } from '../platform/database/migrations/script.js';
import { ConfigurationError } from '../platform/env/configuration-error.js';
import { Problem } from '../platform/problem/problem.js';
import { CommandError, type ExitCode } from './command-error.js';
import { printError, printFault } from './print.js';

/** Prints why a command ended, with `--json` as one line of JSON, and returns its exit code. */
export function report(error: unknown, isJson: boolean): 0 | ExitCode {
  // The person asked for the help or the version.
  if (error instanceof CommanderError && error.exitCode === 0) return 0;
  const fault = faultOf(error);
  if (isJson) printError(JSON.stringify(fault.problem));
  // Commander has printed its own errors, with the help.
  else if (!(error instanceof CommanderError)) printFault(fault.message);
  return fault.exitCode;
}

function faultOf(error: unknown): CommandError {
  if (error instanceof CommandError) return error;
  if (error instanceof CommanderError)
    return new CommandError('usage', error.message.replace(/^error: /, ''), 2);
  if (error instanceof Problem) {
    const { code, detail, extra, message } = error;
    return new CommandError(code, message, 1, { code, detail, ...extra });
  }
  if (error instanceof ConfigurationError) return new CommandError('configuration', error.message);
  if (error instanceof MigrationError) return new CommandError('migration', error.message);
  // This is an error of Node or PostgreSQL, such as an unreachable database.
  if (error instanceof Error && 'code' in error) return new CommandError(String(error.code), error.message);
  // Any other error is a bug.
  return new CommandError('unexpected', inspect(error));
}
