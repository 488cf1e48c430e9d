import { describe, expect, it } from '@jest/globals';
import { mayIn, missingFor } from './scopes.js';
import { isNew, nextOf, outcomeOf, pageAbout, pageOfRemedy, pageWords, wayOf } from './stalled.js';

describe('a remedy', () => {
  it.each([
    ['is called', 'retryRegistration', null, 'registrations:decide', 'call'],
    ['is called with its body', 'changeWebhookEndpoint', { enabled: true }, 'webhooks:manage', 'call'],
    ['leads to a page if a person has to write its body', 'resolveRegistration', null, 'admin', 'page'],
    ['is a form', 'createInvitation', { gridLocationId: '1' }, 'invitations:write', 'invite'],
    ['is called and its link copied', 'readInvitationLink', null, 'links:read', 'copy'],
    ['is hidden without the scope', 'retryRegistration', null, 'users:read', null],
    ['is hidden if the console does not know the operation', 'somethingNew', null, 'admin', null],
  ])('%s', (_, operationId, body, scope, way) =>
    expect(wayOf({ operationId, body }, mayIn([scope]))).toBe(way),
  );

  it.each([
    [{ id: '1', state: 'online' }, true, 'Done. If'],
    [{ id: '1', status: 'pending' }, true, 'Its status is pending.'],
    [undefined, true, 'Done. If'],
    [{ delivered: true, status: 204 }, true, 'Done. If'],
    [{ delivered: false, status: 500, error: null }, false, 'not delivered: HTTP 500.'],
    [{ delivered: false, status: null, error: 'it timed out' }, false, 'not delivered: it timed out.'],
    [{ outcome: 'token_issued', lastError: null }, true, 'Done. If'],
    [{ outcome: 'refused', lastError: 'HTTP 401' }, false, 'It did not work: HTTP 401.'],
    [{ outcome: 'too_soon', lastError: null }, false, 'A token was requested seconds ago.'],
  ])('with the response %j is done: %s', (response, isDone, words) => {
    const outcome = outcomeOf(response);
    expect(outcome.isDone).toBe(isDone);
    expect(outcome.sentence).toContain(words);
  });
});

it.each([
  ['session', 'flapping', { to: 'sessions', id: '1' }],
  ['registration', 'pending_too_long', { to: 'registrations', filters: { status: 'pending' } }],
  ['endpoint', 'failing', { to: 'webhooks', id: '1' }],
  ['start', 'start_failed', { to: 'customers', id: '2' }],
  ['inverter', 'shared', { to: 'customers', id: '1' }],
] as const)('the page about a stalled %s (%s) is %j', (kind, cause, page) =>
  expect(pageAbout({ kind, cause, id: '1', gridLocationId: '2' })).toEqual(page),
);

const ID = '8bc432c7-fd1e-4d99-9dcb-2fbcb63255c5';
const at = (path: string) => `/api/v1/${path}`;
it.each([
  ['refreshSession', at(`onboarding/pv/${ID}/refresh`), null, { to: 'sessions', id: ID }, 'Open the session'],
  [
    'createInvitation',
    at('invitations'),
    { gridLocationId: ID },
    { to: 'customers', id: ID },
    'Open the customer',
  ],
  ['probeCredentials', at('status/credentials/probe'), null, null, null],
  ['somethingNew', at(ID), null, null, null],
] as const)('after %s, a notification leads to %j', (operationId, path, body, page, words) => {
  const found = pageOfRemedy({ operationId, path, body });
  expect(found).toEqual(page);
  if (found !== null) expect(pageWords(found)).toBe(words);
});

it('a link to a page without a subject has the name of the page', () =>
  expect(pageWords({ to: 'audit', filters: { targets: ID } })).toBe('See audit log'));

it('the next step comes before the remedies, or is the first of them', () => {
  const remedies = [
    {
      operationId: 'retryRegistration',
      method: 'POST',
      path: '/',
      body: null,
      label: 'Send it',
      confirm: null,
    },
  ];
  expect(nextOf({ before: 'Ask the provider.', remedies })).toBe('Ask the provider.');
  expect(nextOf({ before: null, remedies })).toBe('Send it.');
});

it.each([
  ['2026-11-25T12:00:00.001Z', true],
  ['2026-11-25T12:00:00Z', false],
])('trouble since %s is new: %s', (since, expected) =>
  expect(isNew({ since }, new Date('2026-11-26T12:00:00Z'))).toBe(expected),
);

it.each([
  ['stalled', ['webhooks:manage'], null],
  ['stalled', ['broker:manage'], 'the scope onboarding:read or users:read or webhooks:manage'],
  ['customers', ['campaigns:read'], 'the scope users:read and the scope onboarding:read'],
  ['customers', ['admin'], null],
] as const)('to open the page %s with %j lacks %j', (page, scopes, missing) =>
  expect(missingFor(page, mayIn(scopes))).toBe(missing),
);
