import type { Drift } from '../../remote/drift.js';
import type { Seen, SeenCall, SeenSession, SeenUser } from './seen.rules.js';

/* What check-remote sees of a service that is as the interface describes it, and of others. */

export const NOW = new Date('2026-11-20T10:00:00.000Z');
const DAY_MS = 86_400_000;

export const response = (status: number, body = '{}', headers: Record<string, string> = {}, ms = 20) =>
  ({
    status,
    body,
    headers: { 'content-type': 'application/json', date: NOW.toUTCString(), ...headers },
    ms,
    receivedAt: NOW,
  }) satisfies SeenCall;
export const PAGE = '<html></html>';
export const at = (ms: number) => ({ ...response(200), receivedAt: new Date(NOW.getTime() + ms) });
export const proxy = {
  ...{ variable: 'HTTPS_PROXY', address: 'proxy:3128' },
  ...{ fault: 'status 407', isAtFault: true },
};
export const LOST = { lost: 'connect ECONNREFUSED' };

export const token: Seen['token'] = {
  call: response(200),
  drifts: [],
  fault: null,
  expiresIn: 1_209_600,
  tokenType: 'pvcurtailment',
  form: { isJwt: false, length: 43, endsAt: null },
  receivedAt: NOW,
  isStored: false,
};
export const user: SeenUser = {
  ...{ call: response(200), drifts: [], fault: null, keepsDigits: true },
  createdAt: '2026-11-20T10:00:00.120Z',
};
export const session: SeenSession = {
  ...{ call: response(200), drifts: [], fault: null },
  createdAt: '2026-11-20T10:00:00+00:00',
  expiresAt: '2026-11-21T10:00:00+00:00',
  ...{ startUrl: undefined, state: 'awaiting_owner', listed: 0, facts: 'a' },
};
export const start = { ...session, startUrl: 'https://onboarding.test/pv-onboarding/abc' };
export const inDays = (days: number) => new Date(NOW.getTime() + days * DAY_MS).toUTCString();
export const tls = {
  protocol: 'TLSv1.3',
  fault: null,
  validity: { validFrom: inDays(-30), validTo: inDays(300) },
};
export const network: Seen['network'] = {
  ...{ host: 'api.test', isEncrypted: true, isLoopback: false, names: 1 },
  ...{ proxy: null, tls },
};
export const refusals: Seen['refusals'] = {
  no_key: response(401),
  no_token: response(401),
  unknown_id: { onboarding: response(404), user: response(404) },
};
export const harm = { wrong_key: response(401), wrong_secret: response(401), earlierToken: response(404) };
export const job = { user, start, known: 0, reads: { onboarding: session, user: session } };
export const AS_DESCRIBED: Seen = {
  ...{ timeoutMs: 10_000, at: NOW, network, probe: response(200), token, refusals, harm, job },
};

export const read = (changed: Partial<SeenSession>) => ({
  job: { ...job, reads: { onboarding: { ...session, ...changed }, user: { ...session, ...changed } } },
});
export const drift = (
  kind: Drift['kind'],
  field: string,
  expected: string | null = null,
  found: string | null = null,
): Drift => ({ kind, field, expected, found });
export const unserved = (status: number): SeenSession => ({
  ...session,
  call: response(status),
  fault: `status ${status}`,
});

type Part = 'network' | 'token' | 'refusals' | 'harm' | 'job';
/** Returns one part of what was seen, with these facts changed. */
export const but = <P extends Part>(part: P, changed: Partial<Seen[P]>): Partial<Seen> => ({
  [part]: { ...AS_DESCRIBED[part], ...changed },
});
export const userBut = (changed: Partial<SeenUser>) => but('job', { user: { ...user, ...changed } });
export const startBut = (changed: Partial<SeenSession>) => but('job', { start: { ...start, ...changed } });
