import { Option, type Command } from 'commander';
import { REGISTRATION_STATUSES } from '../../users/registration/registration.rules.js';
import type { RegistrationView } from '../../users/registration/registration.view.js';
import { confirm, YES, type Confirmation } from '../confirm.js';
import { readInput } from './read-input.js';
import { ApiCommand, metadataOption } from './api-command.js';
import { bulkCommand } from './bulk-decision.command.js';
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
    .option('--tenant-reference <text>', 'only of this reference')
    .option('--ean <digits>', 'only with this EAN')
    .addOption(metadataOption());
  registrations
    .itemCommand('show', 'show a registration and the error of its last call')
    .calls((api, id: string) => api.call<object>('GET', `/registrations/${id}`));
  registrations
    .itemCommand('resolve', 'enter the user that the provider confirmed')
    .argument('<file>', 'the user object of the provider, as JSON; - reads the standard input')
    .option(...YES)
    .calls(async (api, id: string, file: string, confirmation: Confirmation) => {
      const effect = `this enters a user for the registration ${id}, and its grid locations. This cannot be undone.`;
      await confirm(api.place, effect, confirmation);
      // Sent as it is, because an EAN may be a number that JavaScript would round.
      const body = await readInput(file);
      return api.call<object>('POST', `/registrations/${id}/resolve`, { body });
    });
  registrations
    .itemCommand('retry', 'send a registration again; first ask the provider whether the user exists')
    .option(...YES)
    .calls(async (api, id: string, confirmation: Confirmation) => {
      const effect = `this sends the registration ${id} again. If an earlier call took effect, a second user is created at the provider. This cannot be undone.`;
      await confirm(api.place, effect, confirmation);
      return api.call<object>('POST', `/registrations/${id}/retry`);
    });
  registrations
    .itemCommand('discard', 'give a registration up')
    .option(...YES)
    .calls(async (api, id: string, confirmation: Confirmation) => {
      const { tenantReference, status } = await api.call<RegistrationView>('GET', `/registrations/${id}`);
      const effect = `this gives up the ${status} registration ${id} of ${tenantReference}: it is never sent again. If its user exists after all, \`registrations resolve\` can still enter it.`;
      await confirm(api.place, effect, confirmation);
      return api.call<object>('POST', `/registrations/${id}/discard`);
    });
  for (const decision of ['retry', 'discard'] as const)
    registrations.addCommand(bulkCommand(findApi, decision));
  return registrations;
}
