import type { Command } from 'commander';
import { readId } from '../read-input.js';
import { print, printYaml } from '../print.js';
import { ApiCommand, metadataOption } from './api-command.js';
import { campaignsCommand } from './campaigns.command.js';
import { customersCommand } from './customers.command.js';
import { eventsCommand } from './events.command.js';
import { funnelCommand, invitationsCommand } from './invitations.command.js';
import { registrationsCommand } from './registrations.command.js';
import { importCommand } from './import.command.js';
import type { FindApi } from './service-api.js';
import { sessionsCommand } from './sessions.command.js';
import { age, cut, printTable } from './table.js';
import { webhooksCommand } from './webhooks.command.js';

export const apiCommands = (findApi: FindApi): Command[] =>
  [
    statusCommand,
    credentialsCommand,
    usersCommand,
    registrationsCommand,
    sessionsCommand,
    invertersCommand,
    invitationsCommand,
    funnelCommand,
    importCommand,
    campaignsCommand,
    customersCommand,
    webhooksCommand,
    eventsCommand,
  ].map((make) => make(findApi));

function statusCommand(findApi: FindApi): Command {
  return new ApiCommand('status', findApi)
    .description(
      'show the remote service, the token, the poller, the outbox, open registrations and lost starts',
    )
    .calls(
      (client) => client.GET('/api/v1/status'),
      ({ replicas, ...status }) => {
        printYaml(status);
        print('');
        printTable(
          {
            REPLICA: ({ name }) => name,
            ROLE: ({ role }) => role,
            VERSION: ({ version, commit }) => `${version} ${commit?.slice(0, 12) ?? ''}`,
            ALIVE: ({ isAlive }) => isAlive,
            SEEN: ({ lastSeenAt }) => age(lastSeenAt),
            'READS/S': ({ readsPerSecond }) => readsPerSecond,
            PACED: ({ pacedSince }) => age(pacedSince),
            SLOW: ({ slow }) => slow.join(', '),
          },
          replicas,
        );
      },
    );
}

function credentialsCommand(findApi: FindApi): Command {
  const credentials = new ApiCommand('credentials', findApi).description(
    'test the credentials of the remote service',
  );
  credentials
    .command('probe')
    .description('request a token from the remote service now; fails unless one is issued or in order')
    .calls(async (client) => {
      const result = await client.POST('/api/v1/status/credentials/probe');
      if (!['valid', 'token_issued'].includes(result.data.outcome)) process.exitCode = 1;
      return result;
    });
  return credentials;
}

function usersCommand(findApi: FindApi): Command {
  const users = new ApiCommand('users', findApi).description('list and show the registered users');
  users
    .listCommand('list', 'list users, newest first', '/api/v1/users', {
      ID: ({ id }) => id,
      AGE: ({ registeredAt }) => age(registeredAt),
      EAN: ({ gridLocations: [first, ...more] }) =>
        first && `${first.ean}${more.length > 0 ? ` +${more.length}` : ''}`,
      REFERENCE: ({ tenantReference }) => tenantReference,
    })
    .option('--tenant-reference <text>', 'only the user with this reference')
    .option('--ean <digits>', 'only users with this grid connection')
    .addOption(metadataOption());
  users
    .itemCommand('show', 'show a user with the ids of its grid locations')
    .calls((client, userId: string) =>
      client.GET('/api/v1/users/{userId}', { params: { path: { userId } } }),
    );
  return users;
}

function invertersCommand(findApi: FindApi): Command {
  const inverters = new ApiCommand('inverters', findApi).description('list the inverters of all sessions');
  inverters
    .listCommand('list', 'list inverters, newest first', '/api/v1/inverters', {
      ID: ({ id }) => id,
      SESSION: ({ sessionId }) => sessionId,
      SEEN: ({ lastSeenAt }) => age(lastSeenAt),
      MISSING: ({ missingSince }) => age(missingSince),
      BRAND: ({ brand }) => cut(brand, 8),
    })
    .option('--user-id <id>', 'only of this user', readId)
    .option('--grid-location-id <id>', 'only of this grid location', readId);
  return inverters;
}
