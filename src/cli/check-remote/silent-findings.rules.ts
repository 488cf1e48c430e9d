import { isForeignRefusal, isGivenUp } from '../../remote/outcome.rules.js';
import {
  findingsOf,
  type Finding,
  isLost,
  type Seen,
  type SeenCall,
  type SeenResponse,
} from './seen.rules.js';

const NOT_SHOWN = 'not shown';

interface Question {
  readonly check: string;
  /** The statuses that we expect. */
  readonly expected: readonly number[];
  /** What a status means that is neither expected nor a failure of its own. */
  readonly otherwise: string;
  /** What a success means: the service ignores what is missing or wrong. */
  readonly accepted: string;
}

const QUESTIONS = {
  no_key: {
    check: 'refusal.missing_key',
    expected: [400, 401, 403],
    otherwise:
      'An API key that was revoked may be taken for something else. Ask the provider how it is refused.',
    accepted: 'The base probe does not check the API key, so it cannot show that a key is wrong.',
  },
  no_token: {
    check: 'refusal.missing_token',
    expected: [401, 403],
    otherwise: 'Only a 401 renews the token at once. Ask the provider how an expired token is refused.',
    accepted: 'Sessions can be read without a token. Tell the provider.',
  },
  wrong_key: {
    check: 'refusal.wrong_key',
    expected: [400, 401, 403],
    otherwise:
      'A wrong key is not recognised as one. The status then shows a failing service, not wrong credentials.',
    accepted: 'The service accepts a wrong API key. Tell the provider.',
  },
  wrong_secret: {
    check: 'refusal.wrong_secret',
    expected: [400, 401, 403],
    otherwise: 'Wrong credentials are not recognised as such: calls are tried again as after an outage.',
    accepted: 'The service accepts a wrong client_secret. Tell the provider at once.',
  },
  unknown_id: {
    check: 'refusal.unknown_session',
    expected: [404, 410],
    otherwise: 'A session that is gone never becomes `lost`; it is read until its late window ends.',
    accepted: 'A session that does not exist looks as if it did.',
  },
} as const satisfies Record<string, Question>;

/** Judges the responses that the interface does not show (sections 4.5, 5, 7 and 8). */
export function silentFindings(seen: Seen, responses: readonly SeenResponse[]): Finding[] {
  const { no_key, no_token, unknown_id } = seen.refusals;
  return [
    ofProbe(seen.probe),
    // Without any response, the probe says enough.
    ...(isLost(seen.probe) && isLost(no_key) ? [] : [ofRefusal(QUESTIONS.no_key, no_key)]),
    ...(no_token === null ? [] : [ofRefusal(QUESTIONS.no_token, no_token)]),
    ...(unknown_id === null ? [] : [ofUnknown(Object.values(unknown_id))]),
    ...(seen.harm === null
      ? []
      : [
          ofRefusal(QUESTIONS.wrong_key, seen.harm.wrong_key),
          ofRefusal(QUESTIONS.wrong_secret, seen.harm.wrong_secret),
        ]),
    ofLimits(responses),
  ];
}

function ofProbe(probe: SeenCall): Finding {
  const { fits, differs, fails } = findingsOf('probe', 'GET /api/v1/ssa; its response is not shown');
  const saw = describeCall(probe);
  if (isLost(probe)) return fails(saw, 'The remote service cannot be reached from this machine.');
  const { status } = probe;
  if (status >= 500 || status === 429 || isGivenUp(status))
    return fails(saw, 'After an outage, calls are tried again only once the probe succeeds.');
  if (status >= 300 && status < 400)
    return fails(
      saw,
      'We follow no redirect, because it would take the credentials along. Set SCS_BASE_URL to the address that it leads to.',
    );
  if (status === 404 || status === 405)
    return differs(
      saw,
      'The probe is not served, so it cannot tell a session that is gone from a path that is gone. A session becomes `lost` later.',
    );
  return fits(saw);
}

function ofRefusal({ check, expected, otherwise, accepted }: Question, call: SeenCall): Finding {
  const { fits, differs } = findingsOf(check, NOT_SHOWN);
  const saw = describeCall(call);
  if (isLost(call)) return differs(saw, otherwise);
  const { status, body } = call;
  if (status < 300) return differs(saw, accepted);
  if (status >= 500) return differs(saw, `${otherwise} A 5xx counts as an outage and opens the breaker.`);
  if (status === 429) return differs(saw, 'The service limits requests: try again later.');
  if (!expected.includes(status)) return differs(saw, otherwise);
  if (isForeignRefusal({ status, body }))
    return differs(
      saw,
      'A refusal without a JSON object looks as if something in front of the service had responded: it counts only once it lasts. Until then the status shows `foreign_response`.',
    );
  return fits(saw);
}

/** Judges the reads of a session that does not exist. A path that is not served shows nothing, so the better response counts. */
function ofUnknown(calls: readonly SeenCall[]): Finding {
  const found = calls.map((call) => {
    const isRefused = !isLost(call) && [401, 403].includes(call.status);
    const finding = ofRefusal(QUESTIONS.unknown_id, call);
    if (!isRefused || finding.level === 'fits') return finding;
    const means =
      'A session that is gone is refused like a wrong token. It becomes `lost` after an hour instead of 8 minutes.';
    return { ...finding, means };
  });
  const fits = found.find(({ level }) => level === 'fits');
  const one = fits ?? found[0]!;
  const statuses = [...new Set(found.map(({ saw }) => saw))].join('; ');
  return { ...one, saw: statuses };
}

const LIMIT = /^(?:x-)?ratelimit-(?:limit|policy)$/;

function ofLimits(responses: readonly SeenResponse[]): Finding {
  const { fits, differs } = findingsOf('limits', 'rate limits are not shown');
  const limited = responses.find(({ status }) => status === 429);
  const entries = responses.flatMap(({ headers }) => Object.entries(headers));
  const header = entries.find(([name]) => LIMIT.test(name));
  if (header === undefined && limited === undefined) return fits('no response names a limit');
  return differs(
    header === undefined ? 'status 429' : `${header[0]}: ${header[1]}`,
    'Ask the provider for the period of the limit, and stay below it: all replicas together count as one.',
    'SCS_MAX_REQUESTS_PER_SECOND=<requests per second>',
  );
}

/** Describes a response by its status and the kind of its body, never by the text. */
export function describeCall(call: SeenCall): string {
  if (isLost(call)) return `no response: ${call.lost}`;
  const { status, body, headers } = call;
  const type = headers['content-type']?.split(';', 1)[0];
  const kind =
    body === '' ? 'an empty body' : /^\ufeff?\s*\{/.test(body) ? 'a JSON object' : (type ?? 'a text');
  return `status ${status} with ${kind}`;
}
