#!/usr/bin/env node
import { Command } from 'commander';
import { VERSION } from '../platform/build.js';
import { apiCommands } from './api/api-commands.js';
import { findApi } from './api/service-api.js';
import { printVisibly } from './print.js';
import { report } from './report.js';

/** The exit code that shells report for a program whose output is no longer read. */
const READER_ENDED = 141;

const findService = () => findApi(process.env);
const isJson = process.argv.includes('--json');
// Exits when the reader of the output ends, as in `events tail | head -3`. Child processes end with this process.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(READER_ENDED);
});

const program = new Command('pv-onboarding')
  .description(
    'Administers a PV Onboarding service. docs/command-line.md describes every command, its settings and the exit codes.',
  )
  .version(VERSION)
  .showHelpAfterError()
  .commandsGroup('Through the API:');
const ofApi = apiCommands(findService);
for (const command of ofApi) program.addCommand(command);

let stop = async () => {};
try {
  // Loads the code of the service only for other commands and the help, because this takes most of a second.
  if (!ofApi.some((command) => command.name() === process.argv[2])) {
    const { addDatabaseCommands } = await import('./database-commands.js');
    stop = await addDatabaseCommands(program, process.env, findService, process.argv[2]);
  }
  await printVisibly(program, isJson).parseAsync();
} catch (error) {
  process.exitCode = report(error, isJson);
} finally {
  await stop();
}
