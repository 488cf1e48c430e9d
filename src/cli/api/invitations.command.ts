import type { Command } from 'commander';
import type { Schemas } from '#client/client.js';
import { INVITATION_STATES } from '../../invitations/invitation.rules.js';
import { INVITATION_CAUSES } from '../../invitations/invitation.stall.rules.js';
import { readId } from '../read-input.js';
import { printYaml } from '../print.js';
import { ApiCommand, at } from './api-command.js';
import type { FindApi } from './service-api.js';
import { age, cut, printTable } from './table.js';

const ONE = '/api/v1/invitations/{id}';

export function invitationsCommand(findApi: FindApi): Command {
  const invitations = new ApiCommand('invitations', findApi).description(
    'list, show and revoke the invitations of owners',
  );
  invitations
    .listCommand('list', 'list invitations, newest first', '/api/v1/invitations', {
      ID: ({ id }) => id,
      STATE: ({ state }) => state,
      AGE: ({ createdAt }) => age(createdAt),
      BRANDS: ({ brands }) => cut(brands.join(','), 16),
      REFERENCE: ({ tenantReference }) => cut(tenantReference, 24),
    })
    .choice('--state <state>', 'only in this state', INVITATION_STATES)
    .choice('--stalled <cause>', 'only stalled for this cause, or any', [
      ...Object.keys(INVITATION_CAUSES),
      'any',
    ])
    .option('--grid-location-id <id>', 'only of this grid location', readId)
    .option('--tenant-reference <text>', 'only of this reference')
    .option('--campaign-id <id>', 'only of this campaign', readId);
  invitations
    .itemCommand('show', 'show an invitation')
    .calls((client, id: string) => client.GET(ONE, at(id)), printInvitation);
  invitations
    .itemCommand('revoke', 'end an invitation: its link then says that it is no longer valid')
    .confirms((_client, id: string) => `this revokes the invitation ${id}. This cannot be undone.`)
    .calls((client, id: string) => client.DELETE(ONE, at(id)), printInvitation);
  return invitations;
}

export function funnelCommand(findApi: FindApi): Command {
  return new ApiCommand('funnel', findApi)
    .description('count invitations by the steps that they reached')
    .choice('--by <key>', 'what a line is about', ['day', 'brand', 'campaign'])
    .option('--from <instant>', 'only invitations created at or after, such as 2026-11-22T10:00:00Z')
    .option('--to <instant>', 'only invitations created before')
    .calls(
      (client, query: { by?: 'day' | 'brand' | 'campaign'; from?: string; to?: string }) =>
        client.GET('/api/v1/funnel', { params: { query } }),
      ({ items }) =>
        printTable(
          {
            KEY: ({ key }) => key,
            INVITED: ({ invited }) => invited,
            OPENED: ({ opened }) => opened,
            STARTED: ({ started }) => started,
            DONE: ({ ownerDone }) => ownerDone,
            ONLINE: ({ online }) => online,
            EXPIRED: ({ expired }) => expired,
            'MEDIAN S': ({ medianSecondsToOnline: seconds }) => seconds && Math.round(seconds),
          },
          items,
        ),
    );
}

/** Prints an invitation without its link, because anyone who sees the link may act for the owner. */
const printInvitation = (invitation: Schemas['InvitationView']): void =>
  printYaml({ ...invitation, url: invitation.url && 'not shown here; --json has it' });
