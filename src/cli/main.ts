#!/usr/bin/env node
import 'reflect-metadata';
import { inspect } from 'node:util';
import { Logger } from '@nestjs/common';
import { Command, CommanderError } from 'commander';
import { planRederivations } from '../onboarding/store/rederivation.js';
import { SessionsStore } from '../onboarding/store/sessions.store.js';
import { MigrationError } from '../platform/database/migrate.js';
import { ConfigurationError } from '../platform/env/read-environment.js';
import { apiCommands } from './api/api-commands.js';
import { findApi } from './api/service-api.js';
import { ACTOR, CommandEnvironment, readId, withDatabase } from './command-environment.js';
import { completionCommand } from './completion.command.js';
import { eraseCommand } from './erase.command.js';
import { asyncapiCommand, openapiCommand } from './generated-files.command.js';
import { keysCommand } from './keys.command.js';
import { migrateCommand } from './migrate.command.js';
import { print, printError, printFault, printVisibly } from './print.js';
import { psqlCommand } from './psql.command.js';
import { restoreCommand } from './restore.command.js';

const environment = new CommandEnvironment(process.env);
const read = () => environment.read();
// Keeps the standard output for results.
Logger.overrideLogger({ log: printError, warn: printError, error: printError });

const rederiveCommand = new Command('rederive')
  .description('apply the current rules to the stored responses, and show which states would change')
  .option('--session <id>', 'only this session', readId)
  .option('--write', 'also write the changes, with their transitions and events')
  .action(({ session, write = false }: { session?: string; write?: boolean }) =>
    withDatabase(read, async (database, environment) => {
      const sessions = new SessionsStore(database, environment);
      let found = 0;
      let written = 0;
      for await (const changes of planRederivations(database, session ?? null)) {
        for (const { id, from, classification } of changes)
          print(`${id}  ${from} -> ${classification.state}  (${classification.rule})`);
        found += changes.length;
        if (write && changes.length > 0) written += await sessions.applyRederived(changes, ACTOR);
      }
      if (found === 0) printError('the current rules change no state');
      else if (!write) printError(`${found} states would change; add --write to change them`);
      else if (written === found) printError(`${written} written`);
      else printError(`${written} of ${found} written; the other sessions have changed meanwhile`);
    }),
  );

const program = new Command()
  .description(
    'Administers a PV Onboarding service. docs/command-line.md describes every command, its settings and the exit codes.',
  )
  .showHelpAfterError()
  .commandsGroup('Through the API:');
for (const command of apiCommands(() => findApi(process.env))) program.addCommand(command);
program
  .commandsGroup('Through the database, with the environment variables of the service:')
  .addCommand(migrateCommand(read))
  .addCommand(keysCommand(read))
  .addCommand(eraseCommand(read))
  .addCommand(rederiveCommand)
  .addCommand(restoreCommand(read))
  .addCommand(psqlCommand(read, process.env))
  .commandsGroup('For developers of the service:')
  .addCommand(openapiCommand)
  .addCommand(asyncapiCommand)
  .commandsGroup('For shells:')
  .addCommand(completionCommand(program));

try {
  await printVisibly(program).parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    // Commander has printed the help or the fault. It uses 1 for faults.
    process.exitCode = error.exitCode === 0 ? 0 : 2;
  } else {
    // For a faulty configuration, a refused migration or call, or an unreachable database, prints the message. Any other error is a bug:
    // prints its stack.
    const isKnown =
      error instanceof ConfigurationError ||
      error instanceof MigrationError ||
      (error instanceof Error && 'code' in error);
    printFault(isKnown ? error.message : inspect(error));
    process.exitCode = 1;
  }
} finally {
  await environment.stop();
}
