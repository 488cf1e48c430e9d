import type { SandboxFault } from '../../../setup/sandbox/sandbox-control.js';

/** A fault of one call. `unreachable`: no connection is accepted for it. */
export type RemoteFault = SandboxFault | 'unreachable';

const status = (code: number, effect = false): SandboxFault => ({
  kind: 'answer',
  status: code,
  body: `{"error":"status ${code}"}`,
  effect,
});

/** Fields of every documented response, in other types. */
const WRONG_TYPES =
  '{"access_token":7,"id":"1","sessionId":7,"finished":"true","active":1,"gridLocations":{},"inverters":"all","startUrl":[]}';

/** Every distinguishable way in which a call may fail. A response that precedes the effect of the call has none of these faults. */
export const REMOTE_FAULTS: Readonly<Record<string, RemoteFault>> = {
  'connection refused': 'unreachable',
  'reset before the effect': { kind: 'reset' },
  'reset after the effect': { kind: 'reset', effect: true },
  'stall before the effect': { kind: 'stall' },
  'stall after the effect': { kind: 'stall', effect: true },
  'stall in the body': { kind: 'stall', effect: true, after: 'half' },
  drip: { kind: 'drip', intervalMs: 200 },
  'truncated 200': { kind: 'truncate' },
  '401': status(401),
  '403': status(403),
  '404': status(404),
  '405': status(405),
  '408 after the effect': status(408, true),
  '499 after the effect': status(499, true),
  '409': status(409),
  '410': status(410),
  '422': status(422),
  '429': { kind: 'too_many_requests' },
  '500 before the effect': status(500),
  '500 after the effect': status(500, true),
  '501': status(501),
  '503': status(503),
  '503 after the effect': status(503, true),
  redirect: { kind: 'redirect' },
  'redirect after the effect': { kind: 'redirect', effect: true },
  'HTML 200': { kind: 'html' },
  'HTML 200 after the effect': { kind: 'html', effect: true },
  'empty 200 after the effect': { kind: 'answer', body: '', effect: true },
  'wrong types': { kind: 'answer', body: WRONG_TYPES, effect: true },
};

/** The faults that differ most from each other. */
export const DISTINCT_FAULTS: readonly string[] = [
  'reset after the effect',
  '501',
  'HTML 200 after the effect',
];
