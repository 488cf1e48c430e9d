import { Command } from 'commander';
import type { UserView } from '../../users/user/user.view.js';
import { readId } from '../command-environment.js';
import { JSON_OPTION, listCommand, metadataOption } from './list-command.js';
import { age, printCall, type Output } from './output.js';
import type { FindApi } from './service-api.js';

export function usersCommand(findApi: FindApi): Command {
  const users = new Command('users').description('list and show the registered users');
  users.addCommand(
    listCommand<UserView>('list', 'list users, newest first', findApi, '/users', {
      ID: ({ id }) => id,
      AGE: ({ registeredAt }) => age(registeredAt),
      EAN: ({ gridLocations: [first, ...more] }) =>
        first && `${first.ean}${more.length > 0 ? ` +${more.length}` : ''}`,
      REFERENCE: ({ tenantReference }) => tenantReference,
    })
      .option('--tenant-reference <text>', 'only the user with this reference')
      .option('--ean <digits>', 'only users with this grid connection')
      .addOption(metadataOption()),
  );
  users
    .command('show')
    .description('show a user with the ids of its grid locations')
    .argument('<id>', 'from `users list`', readId)
    .option(...JSON_OPTION)
    .action((id: string, output: Output) => printCall(findApi, output, 'GET', `/users/${id}`));
  return users;
}
