import { Logger } from '@nestjs/common';
import type { Command } from 'commander';
import type { EnvironmentSource } from '../platform/env/environment-names.js';
import type { FindApi } from './api/service-api.js';
import { CommandEnvironment, namesService } from './command-environment.js';
import { printError } from './print.js';

/**
 * Adds the commands that work on the database, with the code of the service: the one called `name`, or all of them if none is. Each loads
 * its own code, because the code of all takes a second. Returns a function that stops what they have started.
 */
export async function addDatabaseCommands(
  program: Command,
  source: EnvironmentSource,
  findService: FindApi,
  name = '',
) {
  // Logs to the standard error, so that the standard output has only results.
  Logger.overrideLogger({ log: printError, warn: printError, error: printError });
  const environment = new CommandEnvironment(source);
  const read = () => environment.read();
  const readRunning = () => environment.read({ mayStartDatabase: false });
  const finds = namesService(source) ? findService : undefined;
  const commands = new Map<string, () => Promise<Command>>([
    [
      'check-remote',
      async () => (await import('./check-remote/check-remote.command.js')).checkRemoteCommand(read),
    ],
    ['migrate', async () => (await import('./migrate.command.js')).migrateCommand(read)],
    ['keys', async () => (await import('./keys.command.js')).keysCommand(read, finds)],
    ['erase', async () => (await import('./erase.command.js')).eraseCommand(read)],
    ['rederive', async () => (await import('./rederive.command.js')).rederiveCommand(read)],
    ['restore', async () => (await import('./restore.command.js')).restoreCommand(read)],
    ['psql', async () => (await import('./psql.command.js')).psqlCommand(readRunning, source)],
  ]);
  program.commandsGroup('Through the database, with the environment variables of the service:');
  const called = commands.get(name);
  for (const make of called ? [called] : commands.values()) program.addCommand(await make());
  return () => environment.stop();
}
