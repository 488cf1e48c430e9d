import { Logger } from '@nestjs/common';
import type { Command } from 'commander';
import type { EnvironmentSource } from '../platform/env/environment-names.js';
import type { FindApi } from './api/service-api.js';
import { checkRemoteCommand } from './check-remote/check-remote.command.js';
import { CommandEnvironment, namesService } from './command-environment.js';
import { eraseCommand } from './erase.command.js';
import { keysCommand } from './keys.command.js';
import { migrateCommand } from './migrate.command.js';
import { printError } from './print.js';
import { psqlCommand } from './psql.command.js';
import { rederiveCommand } from './rederive.command.js';
import { restoreCommand } from './restore.command.js';

/** Adds the commands that work on the database, with the code of the service. Returns a function that stops what they have started. */
export function addDatabaseCommands(program: Command, source: EnvironmentSource, findService: FindApi) {
  // Logs to the standard error, so that the standard output has only results.
  Logger.overrideLogger({ log: printError, warn: printError, error: printError });
  const environment = new CommandEnvironment(source);
  const read = () => environment.read();
  program
    .commandsGroup('Through the database, with the environment variables of the service:')
    .addCommand(checkRemoteCommand(read))
    .addCommand(migrateCommand(read))
    .addCommand(keysCommand(read, namesService(source) ? findService : undefined))
    .addCommand(eraseCommand(read))
    .addCommand(rederiveCommand(read))
    .addCommand(restoreCommand(read))
    .addCommand(psqlCommand(() => environment.read({ mayStartDatabase: false }), source));
  return () => environment.stop();
}
