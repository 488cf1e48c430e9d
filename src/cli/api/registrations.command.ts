import { Command, Option } from 'commander';
import { REGISTRATION_STATUSES } from '../../users/registration/registration.rules.js';
import type { RegistrationView } from '../../users/registration/registration.view.js';
import { readId } from '../command-environment.js';
import { confirm, YES, type Confirmation } from '../confirm.js';
import { readInput } from './input.js';
import { JSON_OPTION, listCommand } from './list-command.js';
import { age, printCall, type Output } from './output.js';
import type { FindApi } from './service-api.js';

export function registrationsCommand(findApi: FindApi): Command {
  const registrations = new Command('registrations').description(
    'list registrations, and decide about those whose outcome is unknown',
  );
  registrations.addCommand(
    listCommand<RegistrationView>('list', 'list registrations, newest first', findApi, '/registrations', {
      ID: ({ id }) => id,
      STATUS: ({ status }) => status,
      AGE: ({ createdAt }) => age(createdAt),
      CALLS: ({ attempts }) => attempts,
      REFERENCE: ({ tenantReference }) => tenantReference,
    })
      .addOption(new Option('--status <status>', 'only in this status').choices([...REGISTRATION_STATUSES]))
      .option('--tenant-reference <text>', 'only of this reference'),
  );
  const command = (name: string, description: string): Command =>
    registrations
      .command(name)
      .description(description)
      .argument('<id>', 'from `registrations list`', readId);

  command('show', 'show a registration and the error of its last call')
    .option(...JSON_OPTION)
    .action((id: string, output: Output) => printCall(findApi, output, 'GET', `/registrations/${id}`));
  command('resolve', 'enter the user that the provider confirmed')
    .argument('<file>', 'the user object of the provider, as JSON; - reads the standard input')
    .option(...JSON_OPTION)
    .action(async (id: string, file: string, output: Output) => {
      // Sent as it is, because an EAN may be a number that JavaScript would round.
      const body = await readInput(file);
      await printCall(findApi, output, 'POST', `/registrations/${id}/resolve`, body);
    });
  command('retry', 'send a registration again; first ask the provider whether the user exists')
    .option(...JSON_OPTION)
    .action((id: string, output: Output) => printCall(findApi, output, 'POST', `/registrations/${id}/retry`));
  command('discard', 'give a registration up')
    .option(...YES)
    .option(...JSON_OPTION)
    .action(async (id: string, { yes, json }: Output & Confirmation) => {
      const api = await findApi();
      const { tenantReference, status } = await api.call<RegistrationView>('GET', `/registrations/${id}`);
      const loss = `This gives up the ${status} registration ${id} of ${tenantReference}: it is never sent again.`;
      if (!(await confirm(loss, { yes }))) return;
      await printCall(findApi, { json }, 'POST', `/registrations/${id}/discard`);
    });
  return registrations;
}
