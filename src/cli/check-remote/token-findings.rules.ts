import { readExpiresIn } from '../../auth/expires-in.rules.js';
import { describeCall } from './silent-findings.rules.js';
import { driftFindings } from './drift-findings.rules.js';
import {
  findingsOf,
  type Finding,
  isLost,
  type Seen,
  type SeenCall,
  type SeenToken,
  type TokenForm,
} from './seen.rules.js';

const HOUR_MS = 3_600_000;
const READINGS = {
  timestamp: 'a timestamp',
  timestamp_without_zone: 'a timestamp without a zone',
  seconds: 'seconds',
  epoch_seconds: 'seconds since 1970',
  epoch_ms: 'milliseconds since 1970',
  not_understood: 'neither a timestamp nor a number',
} as const;

/** Judges the token (interface sections 2.2, 4.1, 5.4). */
export function tokenFindings({ token, harm }: Seen): Finding[] {
  const request = ofRequest(token);
  if (request.level === 'fails') return [request];
  return [
    request,
    ...(token.form === null ? [] : [ofForm(token.form, token)]),
    ofExpiry(token),
    ofType(token),
    ...driftFindings('token', '2.2', token),
    ...(harm === null ? [] : [ofEarlier(harm.earlierToken)]),
  ];
}

const ADVICE: Readonly<Record<number, string>> = {
  400: 'Check SCS_CLIENT_ID, SCS_CLIENT_SECRET and SCS_SCOPE.',
  401: 'Check SCS_API_KEY, SCS_CLIENT_ID and SCS_CLIENT_SECRET.',
  403: 'Check SCS_API_KEY, and ask the provider whether the subscription is active and this address allowed.',
  404: 'Nothing is at this path. Check the path of SCS_BASE_URL: it ends before /api/v1/ssa.',
};

function ofRequest({ call, fault, isStored }: SeenToken): Finding {
  const { fits, fails } = findingsOf('token.request', 'a JSON object with access_token');
  if (isStored) return fits('the valid token of our database was used', 'None was requested.');
  if (call === null) return fits('a token');
  if (fault === null) return fits(describeCall(call));
  const advice = isLost(call)
    ? 'The remote service cannot be reached from this machine.'
    : (ADVICE[call.status] ?? 'Ask the provider. No call can be made without a token.');
  const reason = isLost(call) || call.status >= 300 ? '' : `: ${fault}`;
  return fails(`${describeCall(call)}${reason}`, advice);
}

/** A longer header is refused by servers with their defaults, such as nginx with 8 kB for all of a line. */
const LONG_TOKEN = 4_000;
const TOLERANCE_MS = 5 * 60_000;

function ofForm({ isJwt, length, endsAt }: TokenForm, { expiresIn, receivedAt }: SeenToken): Finding {
  const { fits, differs } = findingsOf('token.form', 'a text; its form is not shown');
  const saw = `${isJwt ? 'a JWT' : 'an opaque text'} of ${length} characters`;
  const endsAfterMs = endsAt === null ? Infinity : endsAt.getTime() - receivedAt.getTime();
  if (endsAfterMs + TOLERANCE_MS < readExpiresIn(expiresIn, receivedAt).lifetimeMs)
    return differs(
      `${saw} that says it ends after ${durationOf(endsAfterMs)}`,
      'It ends before expires_in. We believe expires_in, and request a new token after the first 401. Ask the provider which of them holds.',
    );
  if (length > LONG_TOKEN)
    return differs(
      saw,
      'A proxy on the way may refuse a header of this length. Ask the provider whether it is meant.',
    );
  return fits(saw);
}

function ofExpiry({ expiresIn, receivedAt }: SeenToken): Finding {
  const { reading, lifetimeMs } = readExpiresIn(expiresIn, receivedAt);
  const says = 'a timestamp in the sample, seconds in the description; 14 days';
  const { fits, differs } = findingsOf('token.expires_in', says);
  if (reading === 'not_understood')
    return differs(
      expiresIn === undefined || expiresIn === null ? 'no expires_in' : READINGS[reading],
      'We assume 15 minutes, and request about 100 tokens a day. Ask the provider how long a token is valid.',
    );
  const isText = typeof expiresIn === 'string' && !reading.startsWith('timestamp');
  const saw = `${READINGS[reading]}${isText ? ' in a string' : ''}, ${durationOf(lifetimeMs)}`;
  if (lifetimeMs < HOUR_MS)
    return differs(saw, 'The token is renewed often. Ask the provider whether that is meant.');
  if (reading === 'timestamp' || reading === 'seconds') return fits(saw);
  return differs(saw, 'We read it as this. Confirm it with the provider.');
}

function ofType({ tokenType }: SeenToken): Finding {
  const { fits, differs } = findingsOf('token.token_type', 'pvcurtailment in the sample');
  if (tokenType === 'pvcurtailment') return fits(tokenType);
  const saw =
    typeof tokenType !== 'string' ? 'no token_type' : /^bearer$/i.test(tokenType) ? 'Bearer' : 'another word';
  return differs(saw, 'No consequence: the token is always sent as Bearer.');
}

function ofEarlier(call: SeenCall): Finding {
  const { fits, differs } = findingsOf('token.second', 'not shown whether a second token ends the first');
  if (isLost(call) || call.status !== 401) return fits('the first token is still accepted');
  return differs(
    'the first token is refused',
    'Use these credentials in one deployment only: our replicas share one token, but any other client ends it, and is ended by us.',
  );
}

/** Returns a duration in the largest unit of which it has at least two. */
export function durationOf(ms: number): string {
  const units = [
    ['days', 24 * HOUR_MS],
    ['hours', HOUR_MS],
    ['minutes', 60_000],
  ] as const;
  const [unit, size] = units.find(([, length]) => ms >= 2 * length) ?? ['seconds', 1_000];
  return `${Math.round(ms / size)} ${unit}`;
}
