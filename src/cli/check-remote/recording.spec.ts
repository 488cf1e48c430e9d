import { describe, expect, it } from '@jest/globals';
import { recordingOf } from './recording.rules.js';
import {
  NOW,
  response,
  LOST,
  token,
  user,
  session,
  start,
  refusals,
  job,
  AS_DESCRIBED,
  drift,
  unserved,
  but,
  startBut,
} from './seen.example.js';
import type { Seen } from './seen.rules.js';

describe('a recording', () => {
  const headers = { 'content-type': 'application/json' };
  const refused = (status: number) => ({ status, headers, body: '{}' });
  const times = { fractionDigits: 0, zone: 'offset' };
  const ofUser = { status: 200, times: { fractionDigits: 3, zone: 'Z' }, differences: [] };
  const ofStart = { status: 200, times, differences: [], lifetimeSeconds: 86_400 };
  const described = {
    recording: 'solar-curtailment-service',
    version: 1,
    recordedAt: NOW.toISOString(),
    headers,
    latencyMs: { probe: 20, token: 20, register_user: 20, start_session: 20, read_session: 20 },
    probe: refused(200),
    token: {
      ...{ status: 200, expiresIn: 'seconds', asText: false, lifetimeSeconds: 1_209_600 },
      ...{ tokenType: 'pvcurtailment', endsEarlier: false },
      form: { isJwt: false, length: 43, lifetimeSeconds: null },
    },
    refusals: {
      ...{ no_key: refused(401), no_token: refused(401), unknown_id: refused(404) },
      ...{ wrong_key: refused(401), wrong_secret: refused(401) },
    },
    sessionPath: 'both',
    user: ofUser,
    start: ofStart,
    read: { status: 200, times, differences: [] },
  };
  const drifts = [
    drift('new_field', 'phone', null, 'string'),
    drift('missing_field', 'a[].b', 'string'),
    drift('other_type', 'x', 'number', 'timestamp with Z'),
    drift('other_type', 'x y', 'number', 'string'),
    drift('foreign_id', 'id'),
  ];
  const differences = [
    { kind: 'new_field', field: 'phone', found: 'string' },
    { kind: 'missing_field', field: 'a[].b', found: null },
    { kind: 'other_type', field: 'x', found: 'another string' },
  ];

  it.each<[string, Partial<Seen>, object]>([
    ['all', {}, {}],
    ['no job', { job: null }, { latencyMs: { probe: 20, token: 20 }, user: null, start: null, read: null }],
    [
      'no response to the token and the probe',
      { token: { ...token, call: LOST, expiresIn: undefined, tokenType: 7 }, probe: LOST },
      {
        headers: {},
        latencyMs: { register_user: 20, start_session: 20, read_session: 20 },
        probe: null,
        token: { ...described.token, expiresIn: 'absent', lifetimeSeconds: 900, tokenType: null },
      },
    ],
    [
      'the token of the database, whose lifetime is text',
      but('token', { call: null, expiresIn: '0.2' }),
      {
        headers: {},
        latencyMs: { probe: 20, register_user: 20, start_session: 20, read_session: 20 },
        token: { ...described.token, asText: true, lifetimeSeconds: 1 },
      },
    ],
    [
      'a lifetime that is a timestamp',
      but('token', { expiresIn: '2026-11-21T10:00:00Z' }),
      { token: { ...described.token, expiresIn: 'timestamp', lifetimeSeconds: 86_400 } },
    ],
    [
      'a second token that ends the first',
      but('harm', { earlierToken: response(401) }),
      { token: { ...described.token, endsEarlier: true } },
    ],
    [
      'a slow response with further headers',
      { probe: response(200, '', { 'x-ratelimit-limit': 'é5', server: 'nginx', 'x-allow': 'x' }, 30_000.6) },
      {
        latencyMs: { ...described.latencyMs, probe: 30_000 },
        probe: { status: 200, headers: { ...headers, 'x-ratelimit-limit': '?5' }, body: '' },
      },
    ],
    [
      'no harm, and refusals that are lost or were not asked for',
      { harm: null, refusals: { no_key: LOST, no_token: null, unknown_id: null } },
      { refusals: {} },
    ],
    [
      'no harm',
      { harm: null, refusals: { ...refusals, no_key: response(403) } },
      {
        refusals: {
          ...described.refusals,
          no_key: refused(403),
          wrong_key: refused(403),
          wrong_secret: undefined,
        },
      },
    ],
    [
      'one path, by its reads',
      but('job', { reads: { onboarding: unserved(405), user: session } }),
      { sessionPath: 'user', refusals: { ...described.refusals, unserved_path: refused(405) } },
    ],
    [
      'the other path, by its reads',
      but('job', { reads: { onboarding: session, user: unserved(404) } }),
      { sessionPath: 'onboarding', refusals: { ...described.refusals, unserved_path: refused(404) } },
    ],
    [
      'one path, by the read of an unknown session',
      but('refusals', { unknown_id: { onboarding: response(501), user: response(410) } }),
      { refusals: { ...described.refusals, unknown_id: refused(410) } },
    ],
    [
      'the other path, by the read of an unknown session',
      but('refusals', { unknown_id: { onboarding: response(410), user: response(501) } }),
      { refusals: { ...described.refusals, unknown_id: refused(410) } },
    ],
    [
      'no path',
      but('job', { reads: { onboarding: unserved(404), user: unserved(405) } }),
      { latencyMs: { ...described.latencyMs, read_session: undefined }, read: null },
    ],
    [
      'a user and a start with faults',
      but('job', { user: { ...user, call: LOST, fault: 'x' }, start: { ...unserved(409) } }),
      { user: null, start: null, latencyMs: { ...described.latencyMs, register_user: undefined } },
    ],
    [
      'a user that cannot be read, and the end of a JWT',
      {
        token: { ...token, form: { isJwt: true, length: 900, endsAt: new Date(NOW.getTime() + 60_000) } },
        job: {
          ...job,
          user: {
            ...{ ...user, fault: 'x', createdAt: '2026-11-20T10:00:00' },
            drifts: [
              drift('other_type', 'id', 'UUID', 'number'),
              drift('other_type', 'createdAt', 'timestamp', 'string'),
            ],
          },
        },
      },
      {
        token: { ...described.token, form: { isJwt: true, length: 900, lifetimeSeconds: 60 } },
        user: {
          ...{ status: 200, times: { fractionDigits: 0, zone: 'none' } },
          differences: [{ kind: 'other_type', field: 'id', found: 'number' }],
        },
      },
    ],
    [
      'differences of which some can be reproduced, in a user of an earlier run and a start without times',
      but('job', {
        user: { ...user, call: null, drifts },
        start: { ...start, call: response(201), createdAt: 7 },
      }),
      {
        latencyMs: { ...described.latencyMs, register_user: undefined },
        user: { ...ofUser, differences },
        start: { status: 201, times: null, differences: [], lifetimeSeconds: null },
      },
    ],
    [
      'a start that ends at once',
      startBut({ expiresAt: start.createdAt }),
      { start: { ...ofStart, lifetimeSeconds: 1 } },
    ],
  ])('has %s', (_what, changed, differs) => {
    const recorded = recordingOf({ ...AS_DESCRIBED, ...changed }, (text) => text);
    expect(recorded).toEqual({ ...described, ...differs });
  });

  it('has no id of the service in a refusal, however it is written', () => {
    const id = '7f1f1b0e-5c0a-4d5b-9f57-3d2f3a9f6b11';
    const refused = response(401, `{"ids":["${id}","${id.toUpperCase()}"]}`);
    const recorded = recordingOf(
      { ...AS_DESCRIBED, refusals: { ...refusals, no_key: refused } },
      (text) => text,
    );
    const body = '{"ids":["00000000-0000-4000-8000-000000000000","00000000-0000-4000-8000-000000000000"]}';
    expect(recorded.refusals).toMatchObject({ no_key: { status: 401, body } });
  });
});
