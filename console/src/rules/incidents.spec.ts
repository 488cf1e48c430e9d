import { expect, it } from '@jest/globals';
import type { Status } from '../api/client.js';
import { incidentsOf } from './incidents.js';

type Reason = Status['reasons'][number];

it('puts each reason below the one that it follows from, and the same reason of several subjects together', () => {
  const reasonOf = (code: Reason['code'], followsFrom: Reason['followsFrom'] = null) =>
    ({ code, followsFrom }) as Reason;
  const incidents = incidentsOf([
    reasonOf('remote_degraded'),
    reasonOf('remote_degraded'),
    reasonOf('nothing_read', 'remote_degraded'),
    reasonOf('reader_behind'),
  ]);
  expect(
    incidents.map((each) => [each.cause, ...each.alike, ...each.symptoms].map(({ code }) => code)),
  ).toEqual([['remote_degraded', 'remote_degraded', 'nothing_read'], ['reader_behind']]);
});
