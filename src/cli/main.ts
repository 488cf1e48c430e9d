#!/usr/bin/env node
import 'reflect-metadata';
import { Logger } from '@nestjs/common';
import { Command } from 'commander';
import { VERSION } from '../platform/version.js';
import { apiCommands } from './api/api-commands.js';
import { findApi } from './api/service-api.js';
import { CommandEnvironment, namesService } from './command-environment.js';
import { eraseCommand } from './erase.command.js';
import { keysCommand } from './keys.command.js';
import { migrateCommand } from './migrate.command.js';
import { printError, printVisibly } from './print.js';
import { psqlCommand } from './psql.command.js';
import { rederiveCommand } from './rederive.command.js';
import { report } from './report.js';
import { restoreCommand } from './restore.command.js';

/** The exit code that shells report for a program whose output is no longer read. */
const READER_ENDED = 141;

const environment = new CommandEnvironment(process.env);
const read = () => environment.read();
const findService = () => findApi(process.env);
const isJson = process.argv.includes('--json');
// Logs to the standard error, so that the standard output has only results.
Logger.overrideLogger({ log: printError, warn: printError, error: printError });
// Exits when the reader of the output ends, as in `events tail | head -3`. Child processes end with this process.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(READER_ENDED);
});

const program = new Command()
  .description(
    'Administers a PV Onboarding service. docs/command-line.md describes every command, its settings and the exit codes.',
  )
  .version(VERSION)
  .showHelpAfterError()
  .commandsGroup('Through the API:');
for (const command of apiCommands(findService)) program.addCommand(command);
program
  .commandsGroup('Through the database, with the environment variables of the service:')
  .addCommand(migrateCommand(read))
  .addCommand(keysCommand(read, namesService(process.env) ? findService : undefined))
  .addCommand(eraseCommand(read))
  .addCommand(rederiveCommand(read))
  .addCommand(restoreCommand(read))
  .addCommand(psqlCommand(() => environment.read({ mayStartDatabase: false }), process.env));

try {
  await printVisibly(program, isJson).parseAsync();
} catch (error) {
  process.exitCode = report(error, isJson);
} finally {
  await environment.stop();
}
