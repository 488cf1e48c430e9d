import type { Command } from 'commander';
import { REGISTRATION_STATUSES } from '../../users/registration/registration.rules.js';
import type { Schemas } from '#client/client.js';
import { readInput } from '../read-input.js';
import { ApiCommand, at, metadataOption } from './api-command.js';
import { bulkCommand } from './bulk-decision.command.js';
import type { FindApi } from './service-api.js';
import { age } from './table.js';

export function registrationsCommand(findApi: FindApi): Command {
  const registrations = new ApiCommand('registrations', findApi).description(
    'list registrations, and decide about those whose outcome is unknown',
  );
  registrations
    .listCommand('list', 'list registrations, newest first', '/api/v1/registrations', {
      ID: ({ id }) => id,
      STATUS: ({ status }) => status,
      AGE: ({ createdAt }) => age(createdAt),
      CALLS: ({ attempts }) => attempts,
      REFERENCE: ({ tenantReference }) => tenantReference,
    })
    .choice('--status <status>', 'only in this status', REGISTRATION_STATUSES)
    .option('--tenant-reference <text>', 'only of this reference')
    .option('--ean <digits>', 'only with this EAN')
    .addOption(metadataOption());
  registrations
    .itemCommand('show', 'show a registration and the error of its last call')
    .calls((client, id: string) => client.GET('/api/v1/registrations/{id}', at(id)));
  registrations
    .itemCommand('resolve', 'enter the user that the provider confirmed')
    .argument('<file>', 'the user object of the provider, as JSON; - reads the standard input')
    .confirms(
      (_client, id: string) =>
        `this enters a user for the registration ${id}, and its grid locations. This cannot be undone.`,
    )
    .calls(async (client, id: string, file: string) => {
      // Sends the file unparsed, because an EAN may be a number that JavaScript would round.
      const body = (await readInput(file)) as unknown as Schemas['ConfirmedUserInput'];
      return client.POST('/api/v1/registrations/{id}/resolve', { ...at(id), body, bodySerializer: String });
    });
  registrations
    .itemCommand('retry', 'send a registration again; first ask the provider whether the user exists')
    .confirms(
      (_client, id: string) =>
        `this sends the registration ${id} again. If an earlier call took effect, a second user is created at the provider. This cannot be undone.`,
    )
    .calls((client, id: string) => client.POST('/api/v1/registrations/{id}/retry', at(id)));
  registrations
    .itemCommand('discard', 'give a registration up')
    .confirms(async (client, id: string) => {
      const { tenantReference, status } = (await client.GET('/api/v1/registrations/{id}', at(id))).data;
      return `this gives up the ${status} registration ${id} of ${tenantReference}: it is never sent again. If its user exists after all, \`registrations resolve\` can still enter it.`;
    })
    .calls((client, id: string) => client.POST('/api/v1/registrations/{id}/discard', at(id)));
  for (const decision of ['retry', 'discard'] as const)
    registrations.addCommand(bulkCommand(findApi, decision));
  return registrations;
}
