import type { Command } from 'commander';
import type { InverterView } from '../../onboarding/api/sessions.view.js';
import type { CredentialsProbeView } from '../../observability/status/remote.view.js';
import type { StatusView } from '../../observability/status/status.view.js';
import type { UserView } from '../../users/user/user.view.js';
import { readId } from '../command-environment.js';
import { ApiCommand, metadataOption } from './api-command.js';
import { eventsCommand } from './events.command.js';
import { age, cut, printFields } from './output.js';
import { registrationsCommand } from './registrations.command.js';
import type { FindApi, Wire } from './service-api.js';
import { sessionsCommand } from './sessions.command.js';
import { webhooksCommand } from './webhooks.command.js';

export const apiCommands = (findApi: FindApi): Command[] =>
  [
    statusCommand,
    credentialsCommand,
    usersCommand,
    registrationsCommand,
    sessionsCommand,
    invertersCommand,
    webhooksCommand,
    eventsCommand,
  ].map((make) => make(findApi));

function statusCommand(findApi: FindApi): Command {
  return new ApiCommand('status', findApi)
    .description(
      'show the remote service, the token, the poller, the outbox, open registrations and lost starts',
    )
    .calls(
      (api) => api.call<Wire<StatusView>>('GET', '/status'),
      ({ replicas, ...status }) =>
        printFields({
          ...status,
          replicas: replicas.map(
            ({ name, role, version, commit, isAlive, lastSeenAt, readsPerSecond, pacedSince, slow }) => ({
              name,
              role,
              version,
              commit: commit?.slice(0, 12),
              alive: isAlive,
              seen: age(lastSeenAt),
              readsPerSecond,
              paced: age(pacedSince),
              slow: slow.join(', '),
            }),
          ),
        }),
    );
}

function credentialsCommand(findApi: FindApi): Command {
  const credentials = new ApiCommand('credentials', findApi).description(
    'test the credentials of the remote service',
  );
  credentials
    .command('probe')
    .description('request a token from the remote service now; fails unless one is issued or in order')
    .calls(async (api) => {
      const result = await api.call<Wire<CredentialsProbeView>>('POST', '/status/credentials/probe');
      if (result.outcome !== 'valid' && result.outcome !== 'token_issued') process.exitCode = 1;
      return result;
    });
  return credentials;
}

function usersCommand(findApi: FindApi): Command {
  const users = new ApiCommand('users', findApi).description('list and show the registered users');
  users
    .listCommand<UserView>('list', 'list users, newest first', '/users', {
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
    .calls((api, id: string) => api.call<object>('GET', `/users/${id}`));
  return users;
}

function invertersCommand(findApi: FindApi): Command {
  const inverters = new ApiCommand('inverters', findApi).description('list the inverters of all sessions');
  inverters
    .listCommand<InverterView>('list', 'list inverters, newest first', '/inverters', {
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
