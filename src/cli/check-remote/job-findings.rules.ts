import { driftFindings } from './drift-findings.rules.js';
import { describeCall } from './silent-findings.rules.js';
import { durationOf } from './token-findings.rules.js';
import { describeTimeForm, findingsOf, lifetimeMsOf, statusOf, timeFormOf } from './seen.rules.js';
import type { Finding, SeenJob, SeenObject, SeenSession, SeenUser, TimeForm } from './seen.rules.js';

const DAY_MS = 86_400_000;

/** Judges a user and a session (interface sections 2.3 to 2.6, 3, 4.2 to 4.4). */
export function jobFindings({ user, start, known, reads }: SeenJob): Finding[] {
  return [
    ...ofUser(user),
    ...(start === null ? [] : ofStart(start)),
    ...(reads === null ? [] : [...ofReads(reads), ...ofLoss(known, reads)]),
  ];
}

function ofUser(user: SeenUser): Finding[] {
  if (user.fault !== null)
    return [failed('user', '4.2', user, meansOfNoUser(user)), ...inTheWay('user', '2.3', user)];
  const { fits, fails } = findingsOf('user.ean_digits', 'a number of 18 digits');
  const rounds = 'The service rounds EANs. Register nobody, and tell the provider.';
  const digits = user.keepsDigits ? fits('all 18 digits came back') : fails('other digits came back', rounds);
  return [
    ofCall('user', user),
    ...driftFindings('user', '2.3', user),
    ...(user.keepsDigits === null ? [] : [digits]),
    ...ofTimes(
      'user',
      'with Z, fractional seconds',
      user.createdAt,
      (form) => form.zone === 'Z' && form.fractionDigits > 0,
    ),
  ];
}

function meansOfNoUser(user: SeenUser): string {
  const status = statusOf(user.call);
  if (status === null || status >= 500)
    return 'Nobody knows whether the user is registered. See docs/registrations.md.';
  return status < 300
    ? 'The user exists there, but this service cannot read the response, and can register nobody. Ask the provider for the fields of section 2.3, and settle the registration: docs/registrations.md.'
    : 'The user is not registered. Ask the provider what the response means.';
}

function meansOfNoStart(start: SeenSession): string {
  const status = statusOf(start.call);
  if (status === 401 || status === 403)
    return 'The tenant token is not accepted as user access token (section 5.7). Ask the provider how a user access token is obtained; src/remote/README.md says where it goes.';
  return status !== null && status < 300
    ? 'A start opens a session there, but this service cannot read the response, so no owner gets a link. Ask the provider for the fields of section 2.5.'
    : 'No session can be started. Ask the provider.';
}

/** Returns the differences of a response that cannot be used, one of which may be the reason. */
const inTheWay = (name: string, section: string, seen: SeenObject): Finding[] =>
  seen.drifts.length === 0 ? [] : driftFindings(name, section, seen);

function ofStart(start: SeenSession): Finding[] {
  if (start.fault !== null)
    return [failed('start', '4.3', start, meansOfNoStart(start)), ...inTheWay('start', '2.5', start)];
  const findings = [ofCall('start', start), ...driftFindings('start', '2.5', start)];
  if (start.call === null) return findings;
  return [
    ...findings,
    ...ofTimes(
      'session',
      'with a numeric offset, whole seconds',
      start.createdAt,
      (form) => form.zone === 'offset' && form.fractionDigits === 0,
    ),
    ofLifetime(start),
    ofLink(start.startUrl),
  ];
}

function ofLifetime(start: SeenSession): Finding {
  const ms = lifetimeMsOf(start);
  const { fits, differs } = findingsOf('session.lifetime', 'one day in the sample');
  if (ms !== null && Math.abs(ms - DAY_MS) <= 60_000) return fits(durationOf(ms));
  return differs(
    ms === null ? 'unknown' : durationOf(ms),
    'The link of an owner works for this time. After it, a click on the invitation starts another session.',
  );
}

function ofLink(startUrl: unknown): Finding {
  const { fits, differs } = findingsOf('start.startUrl', 'a URL with the path /pv-onboarding/<token>');
  const url = typeof startUrl === 'string' && URL.canParse(startUrl) ? new URL(startUrl) : null;
  if (url === null || url.pathname.startsWith('/pv-onboarding/')) return fits('such a URL');
  return differs(
    'a URL with another path',
    'It works. A link under another field name would not be recognised as a secret: ask the provider for its form.',
  );
}

type Reads = NonNullable<SeenJob['reads']>;

function ofReads(reads: Reads): Finding[] {
  const served = (['onboarding', 'user'] as const).filter((shape) => reads[shape].fault === null);
  const { fits, differs } = findingsOf('read.path', 'two paths, and no rule for choosing');
  const [first, second] = served;
  if (first === undefined)
    return [
      findingsOf('read.request', 'section 4.4').fails(
        `onboarding path: ${describe(reads.onboarding)}; user path: ${describe(reads.user)}`,
        'No session can be read, so nobody is ever seen online. Ask the provider.',
      ),
      ...inTheWay('read', '2.5', reads.onboarding),
    ];
  const other = first === 'onboarding' ? 'user' : 'onboarding';
  const path =
    second !== undefined
      ? fits('both are served', 'The default finds the path by itself.')
      : differs(
          `only the ${first} path is served; the other: ${describe(reads[other])}`,
          'The default finds it by itself; the setting saves one call of each process after a start.',
          `SCS_SESSION_PATH=${first}`,
        );
  const read = reads[first];
  return [
    path,
    ...driftFindings('read', '2.5', read),
    ...(second === undefined ? [] : [ofEquality(reads)]),
    ...ofState(read),
    ...ofSecretLink(read),
  ];
}

function describe(read: SeenSession): string {
  if (read.call === null) return 'not asked';
  const isUnread = read.fault !== null && (statusOf(read.call) ?? 300) < 300;
  return isUnread ? `${describeCall(read.call)}: ${read.fault}` : describeCall(read.call);
}

function ofEquality(reads: Reads): Finding {
  const { fits, differs } = findingsOf('read.same', 'the same operation');
  if (reads.onboarding.facts === reads.user.facts) return fits('both paths return the same');
  return differs(
    'the paths return different sessions',
    'Use one path only, or the state changes back and forth. Ask the provider which path is right.',
    'SCS_SESSION_PATH=<onboarding or user>',
  );
}

function ofState({ state }: SeenSession): Finding[] {
  if (state === null) return [];
  const says = 'finished=false, active=true, expired=false, no inverters';
  const { fits, differs } = findingsOf('read.flags', says);
  const saw = `the state ${state}`;
  switch (state) {
    case 'awaiting_owner':
      return [fits(saw)];
    case 'awaiting_installation':
      return [
        differs(
          saw,
          'If nobody has opened the link yet: updatedAt moves without the owner, so `awaiting_installation` does not mean that the owner has finished. Rely on `online` alone.',
        ),
      ];
    case 'online':
      return [fits(saw, 'The session of an earlier run has come online.')];
    default:
      return [differs(saw, 'Ask the provider what the flags of an open session mean.')];
  }
}

/** A further run, after the owner has removed an inverter, shows whether the service says so. */
function ofLoss(known: number, { onboarding, user }: Reads): Finding[] {
  const listed = onboarding.listed ?? user.listed;
  if (known === 0 || listed === null) return [];
  const { fits } = findingsOf('session.loss', 'not shown: whether an inverter that is gone leaves the list');
  const saw = `${listed} of ${known} known inverters are listed`;
  return [
    listed < known
      ? fits(saw, 'A loss shows, and `inverter.missing` announces it.')
      : fits(
          saw,
          'If one was removed before this run, a loss does not show. Then WATCH_ONLINE_DAYS=0 saves reads.',
        ),
  ];
}

function ofSecretLink({ startUrl }: SeenSession): Finding[] {
  if (startUrl === undefined) return [];
  const { differs } = findingsOf('read.startUrl', 'only in the response to a start');
  const means = 'It is not stored from there. Who may read the session may act for the owner.';
  return [differs('the read has it, too', means)];
}

function ofCall(name: string, { call }: SeenObject): Finding {
  const { fits } = findingsOf(`${name}.request`, 'a JSON object; the status is not shown');
  return call === null
    ? fits('done earlier, and not repeated', 'Differences of its response are those that were recorded then.')
    : fits(describeCall(call));
}

const failed = (name: string, section: string, { fault }: SeenObject, means: string): Finding =>
  findingsOf(`${name}.request`, `section ${section}`).fails(fault ?? 'no response', means);

function ofTimes(
  name: string,
  says: string,
  value: unknown,
  isDescribed: (form: TimeForm) => boolean,
): Finding[] {
  const form = timeFormOf(value);
  if (form === null) return [];
  const { fits, differs } = findingsOf(`${name}.times`, says);
  const saw = describeTimeForm(form);
  if (isDescribed(form)) return [fits(saw)];
  const means =
    form.zone === 'none'
      ? 'A time without a zone is not read. Ask the provider for its zone.'
      : 'We read this form as well.';
  return [differs(saw, means)];
}
