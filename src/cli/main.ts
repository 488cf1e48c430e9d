import 'reflect-metadata';
import { inspect } from 'node:util';
import { Command } from 'commander';
import { ConfigurationError } from '../platform/env/read-environment.js';
import { CommandEnvironment } from './command-environment.js';
import { asyncapiCommand } from './asyncapi.command.js';
import { eraseCommand } from './erase.command.js';
import { keysCommand } from './keys.command.js';
import { migrateCommand } from './migrate.command.js';
import { openapiCommand } from './openapi.command.js';
import { printFault, printVisibly } from './print.js';
import { rederiveCommand } from './rederive.command.js';

const environment = new CommandEnvironment(process.env);
const read = () => environment.read();

const program = new Command('npm run cli --')
  .description(
    'Administers a PV Onboarding service on its database; configured like the service, by its environment.',
  )
  .showHelpAfterError()
  .addCommand(migrateCommand(read))
  .addCommand(keysCommand(read))
  .addCommand(eraseCommand(read))
  .addCommand(rederiveCommand(read))
  .addCommand(openapiCommand())
  .addCommand(asyncapiCommand());

try {
  await printVisibly(program).parseAsync();
} catch (error) {
  // A faulty configuration or an unreachable database is reported by its message. Any other error is a bug, for which the stack is needed.
  const isKnown = error instanceof ConfigurationError || (error instanceof Error && 'code' in error);
  printFault(isKnown ? error.message : inspect(error));
  process.exitCode = 1;
} finally {
  await environment.stop();
}
