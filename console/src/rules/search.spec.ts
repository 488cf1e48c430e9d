import { expect, it } from '@jest/globals';
import type { Hit } from '../api/client.js';
import { foundBy, pageOf } from './search.js';

const hit = (kind: Hit['kind'], id: string, tenantReference: string | null): Hit => ({
  ...{ object: 'search_hit', kind, id, tenantReference, label: id },
});
const one = hit('customer', '1', 'customer-1');
const tenth = hit('customer', '10', 'customer-10');
const invitation = hit('invitation', 'i', 'customer-1');
const campaign = hit('campaign', 'c', null);
const session = hit('session', 's', 'customer-1');
const PAGE = { to: 'customers', id: '1' };

it.each([
  ['nothing', [], 'x', { tenantReference: null, others: [] }],
  ['the only customer', [one], 'cust', { page: PAGE, tenantReference: 'customer-1', others: [] }],
  [
    'a customer and its invitation as one',
    [one, invitation],
    'barn',
    { page: PAGE, tenantReference: 'customer-1', others: [] },
  ],
  ['the whole reference', [one, tenth], ' customer-1 ', { tenantReference: 'customer-1', others: [tenth] }],
  [
    'several, none of which is meant',
    [one, tenth],
    'customer',
    { tenantReference: null, others: [one, tenth] },
  ],
  ['a session of several hits', [session, tenth], 's', { tenantReference: null, others: [session, tenth] }],
  ['a campaign as a link', [campaign], 'autumn', { tenantReference: null, others: [campaign] }],
  [
    'a customer beside a campaign',
    [one, campaign],
    'x',
    { tenantReference: 'customer-1', others: [campaign] },
  ],
])('finds %s', (_what, hits, text, found) => expect(foundBy(hits, text)).toEqual({ page: null, ...found }));

it('opens the session of an id', () =>
  expect(foundBy([session], 's')).toEqual({
    page: { to: 'sessions', id: 's' },
    tenantReference: null,
    others: [],
  }));

it.each([
  [session, { to: 'sessions', id: 's' }],
  [campaign, { to: 'campaigns', id: 'c' }],
  [invitation, { to: 'customers', id: 'i' }],
  [one, { to: 'customers', id: '1' }],
])('leads from %j to its page', (of, page) => expect(pageOf(of)).toEqual(page));
