import { Command } from 'commander';
import { JSON_OPTION } from './list-command.js';
import { printCall, type Output } from './output.js';
import type { FindApi } from './service-api.js';

export function statusCommand(findApi: FindApi): Command {
  return new Command('status')
    .description(
      'show the remote service, the token, the poller, the outbox, open registrations and lost starts',
    )
    .option(...JSON_OPTION)
    .action((output: Output) => printCall(findApi, output, 'GET', '/status'));
}
