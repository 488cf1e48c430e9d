import { expect, it } from '@jest/globals';
import type { Status } from '../api/client.js';
import { incidentsOf } from './incidents.js';

type Reason = Status['reasons'][number];

it('puts each reason below the one that it follows from, once', () => {
  const reasonOf = (code: Reason['code'], followsFrom: Reason['followsFrom'] = null) =>
    ({ code, followsFrom }) as Reason;
  const incidents = incidentsOf([
    reasonOf('remote_degraded'),
    reasonOf('remote_degraded'),
    reasonOf('nothing_read', 'remote_degraded'),
    reasonOf('reader_behind'),
  ]);
  expect(incidents.map(({ cause, symptoms }) => [cause, ...symptoms].map(({ code }) => code))).toEqual([
    ['remote_degraded', 'nothing_read'],
    ['remote_degraded'],
    ['reader_behind'],
  ]);
});
