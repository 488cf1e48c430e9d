import { expect, it } from '@jest/globals';
import type { Status } from '../api/client.js';
import { incidentsOf } from './incidents.js';

type Code = Status['reasons'][number]['code'];

it.each<[Code[], [Code, ...Code[]][]]>([
  [[], []],
  [
    ['remote_degraded', 'nothing_read', 'held_back_by_breaker', 'sessions_overdue'],
    [['remote_degraded', 'nothing_read', 'held_back_by_breaker', 'sessions_overdue']],
  ],
  [
    ['credentials_rejected', 'remote_degraded', 'remote_slow', 'registrations_uncertain'],
    [['credentials_rejected', 'remote_degraded', 'remote_slow'], ['registrations_uncertain']],
  ],
  [
    ['tables_locked', 'events_unsequenced', 'sessions_overdue'],
    [['tables_locked', 'events_unsequenced', 'sessions_overdue']],
  ],
  [['sessions_overdue'], [['sessions_overdue']]],
  [
    ['remote_degraded', 'remote_degraded', 'nothing_read'],
    [['remote_degraded', 'nothing_read'], ['remote_degraded']],
  ],
])('of the reasons %j, the incidents with their symptoms are %j', (codes, expected) => {
  const reasons = codes.map((code, index) => ({ code, detail: String(index) }) as Status['reasons'][number]);
  const incidents = incidentsOf(reasons);
  expect(incidents.map(({ cause, symptoms }) => [cause, ...symptoms].map(({ code }) => code))).toEqual(
    expected,
  );
});
