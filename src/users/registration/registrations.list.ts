import * as by from '../../platform/list/filters.js';
import { List } from '../../platform/list/list.js';
import { USERS } from '../user/users.list.js';
import { REGISTRATION_STATUSES } from './registration.rules.js';
import { SELECT_REGISTRATION } from './registrations.sql.js';

const { tenantReference, ean, metadata } = USERS.filters;

export const REGISTRATIONS = new List({
  name: 'registrations',
  select: SELECT_REGISTRATION,
  order: { createdAt: ['created_at', 'instant'], id: ['id', 'uuid'] },
  descending: true,
  filters: {
    tenantReference,
    ean: by.parameter<string>(ean.parameter, 'eans @> ARRAY[?]'),
    metadata,
    status: by.choice('status', REGISTRATION_STATUSES, 'Only registrations in this status'),
    createdSince: by.since('created_at', 'Only registrations created at or after this instant'),
    createdBefore: by.before('created_at', 'Only registrations created before this instant'),
    lastError: by.text('strpos(last_error, ?) > 0', {
      minLength: 1,
      maxLength: 200,
      description: 'Only registrations whose `lastError` contains this text',
    }),
  },
});

export class RegistrationsQuery extends REGISTRATIONS.Query {}
