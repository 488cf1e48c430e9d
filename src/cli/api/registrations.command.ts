import { Option, type Command } from 'commander';
import { REGISTRATION_STATUSES } from '../../users/registration/registration.rules.js';
import type { RegistrationView } from '../../users/registration/registration.view.js';
import { confirm, YES, type Confirmation } from '../confirm.js';
import { readInput } from './read-input.js';
import { ApiCommand } from './api-command.js';
import { age } from './output.js';
import type { FindApi } from './service-api.js';

export function registrationsCommand(findApi: FindApi): Command {
  const registrations = new ApiCommand('registrations', findApi).description(
    'list registrations, and decide about those whose outcome is unknown',
  );
  registrations
    .listCommand<RegistrationView>('list', 'list registrations, newest first', '/registrations', {
      ID: ({ id }) => id,
      STATUS: ({ status }) => status,
      AGE: ({ createdAt }) => age(createdAt),
      CALLS: ({ attempts }) => attempts,
      REFERENCE: ({ tenantReference }) => tenantReference,
    })
    .addOption(new Option('--status <status>', 'only in this status').choices([...REGISTRATION_STATUSES]))
    .option('--tenant-reference <text>', 'only of this reference');
  registrations
    .itemCommand('show', 'show a registration and the error of its last call')
    .calls((api, id: string) => api.call<object>('GET', `/registrations/${id}`));
  registrations
    .itemCommand('resolve', 'enter the user that the provider confirmed')
    .argument('<file>', 'the user object of the provider, as JSON; - reads the standard input')
    .calls(async (api, id: string, file: string) => {
      // Sent as it is, because an EAN may be a number that JavaScript would round.
      const body = await readInput(file);
      return api.call<object>('POST', `/registrations/${id}/resolve`, { body });
    });
  registrations
    .itemCommand('retry', 'send a registration again; first ask the provider whether the user exists')
    .calls((api, id: string) => api.call<object>('POST', `/registrations/${id}/retry`));
  registrations
    .itemCommand('discard', 'give a registration up')
    .option(...YES)
    .calls(async (api, id: string, confirmation: Confirmation) => {
      const { tenantReference, status } = await api.call<RegistrationView>('GET', `/registrations/${id}`);
      const loss = `This gives up the ${status} registration ${id} of ${tenantReference}: it is never sent again.`;
      if (!(await confirm(loss, confirmation))) return undefined;
      return api.call<object>('POST', `/registrations/${id}/discard`);
    });
  return registrations;
}
