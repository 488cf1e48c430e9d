import * as by from '../platform/list/filters.js';
import { List } from '../platform/list/list.js';
import { stalledFilter } from '../stalls/stalled.filter.js';
import { ReferenceOfCustomer } from '../users/tenant-reference.dto.js';
import { INVITATION_STATES } from './invitation.rules.js';
import { INVITATION_CAUSES } from './invitation.stall.rules.js';
import { SELECT_INVITATION, STATE } from './invitations.sql.js';

export const INVITATIONS = new List({
  name: 'invitations',
  select: SELECT_INVITATION,
  where: 'i.erased_at IS NULL',
  order: { createdAt: ['i.created_at', 'instant'], id: ['i.id', 'uuid'] },
  descending: true,
  filters: {
    state: by.choice(STATE, INVITATION_STATES),
    gridLocationId: by.uuid('i.grid_location_id'),
    tenantReference: by.parameter<string>(ReferenceOfCustomer(), 'u.tenant_reference = ?'),
    campaignId: by.uuid('i.campaign_id'),
    stalled: stalledFilter(
      'invitation',
      'i.id',
      INVITATION_CAUSES,
      'Invitations that are stalled for this cause, or for any',
    ),
  },
});

export class InvitationsQuery extends INVITATIONS.Query {}
