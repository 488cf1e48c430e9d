import { parseInstant } from '../../platform/time/instant.rules.js';
import { driftFindings } from './drift-findings.rules.js';
import { describeCall } from './silent-findings.rules.js';
import { describeTimeForm, timeFormOf, type TimeForm } from './times.rules.js';
import { durationOf } from './token-findings.rules.js';
import {
  type Finding,
  isLost,
  type SeenJob,
  type SeenObject,
  type SeenSession,
  type SeenUser,
} from './seen.rules.js';

const DAY_MS = 86_400_000;

/** Judges a user and a session (interface sections 2.3 to 2.6, 3, 4.2 to 4.4). */
export function jobFindings({ user, start, reads }: SeenJob): Finding[] {
  return [
    ...ofUser(user),
    ...(start === null ? [] : ofStart(start)),
    ...(reads === null ? [] : ofReads(reads)),
  ];
}

function ofUser(user: SeenUser): Finding[] {
  if (user.fault !== null)
    return [
      {
        ...failed('user', '4.2', user),
        means: 'The user is not registered, or nobody knows. See docs/registrations.md.',
      },
    ];
  const findings: Finding[] = [ofCall('user', user), ...driftFindings('user', '2.3', user)];
  if (user.keepsDigits !== null)
    findings.push({
      check: 'user.ean_digits',
      says: 'a number of 18 digits',
      ...(user.keepsDigits
        ? { level: 'fits', saw: 'all 18 digits came back', means: '' }
        : {
            level: 'fails',
            saw: 'other digits came back',
            means: 'The service rounds EANs. Register nobody, and tell the provider.',
          }),
    });
  return [
    ...findings,
    ...ofTimes(
      'user',
      'with Z, fractional seconds',
      user.createdAt,
      (form) => form.zone === 'Z' && form.fractionDigits > 0,
    ),
  ];
}

function ofStart(start: SeenSession): Finding[] {
  if (start.fault !== null) {
    const isRefused = start.call !== null && !isLost(start.call) && [401, 403].includes(start.call.status);
    const means = isRefused
      ? 'The tenant token is not accepted as user access token (section 5.7). Ask the provider how a user access token is obtained; docs/remote.md says where it goes.'
      : 'No session can be started. Ask the provider.';
    return [{ ...failed('start', '4.3', start), means }];
  }
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

function ofLifetime({ createdAt, expiresAt }: SeenSession): Finding {
  const [from, to] = [createdAt, expiresAt].map((value) => parseInstant(value, 'remote'));
  const ms = from?.kind === 'instant' && to?.kind === 'instant' ? to.at.getTime() - from.at.getTime() : NaN;
  const line = {
    check: 'session.lifetime',
    says: 'one day in the sample',
    saw: Number.isNaN(ms) ? 'unknown' : durationOf(ms),
  };
  if (Math.abs(ms - DAY_MS) <= 60_000) return { ...line, level: 'fits', means: '' };
  return {
    ...line,
    level: 'differs',
    means:
      'The link of an owner works for this time. After it, a click on the invitation starts another session.',
  };
}

function ofLink(startUrl: unknown): Finding {
  const line = { check: 'start.startUrl', says: 'a URL with the path /pv-onboarding/<token>' };
  const url = typeof startUrl === 'string' && URL.canParse(startUrl) ? new URL(startUrl) : null;
  if (url === null || url.pathname.startsWith('/pv-onboarding/'))
    return { ...line, level: 'fits', saw: 'such a URL', means: '' };
  return {
    ...line,
    level: 'differs',
    saw: 'a URL with another path',
    means:
      'It works. A link under another field name would not be recognised as a secret: ask the provider for its form.',
  };
}

type Reads = NonNullable<SeenJob['reads']>;

function ofReads(reads: Reads): Finding[] {
  const served = (['onboarding', 'user'] as const).filter((shape) => reads[shape].fault === null);
  const line = { check: 'read.path', says: 'two paths, and no rule for choosing' };
  const [first, second] = served;
  if (first === undefined)
    return [
      {
        ...failed('read', '4.4', reads.onboarding),
        saw: `onboarding path: ${describe(reads.onboarding)}; user path: ${describe(reads.user)}`,
        means: 'No session can be read, so nobody is ever seen online. Ask the provider.',
      },
    ];
  const other = first === 'onboarding' ? 'user' : 'onboarding';
  const path: Finding =
    second !== undefined
      ? { ...line, level: 'fits', saw: 'both are served', means: 'The default finds the path by itself.' }
      : {
          ...line,
          level: 'differs',
          saw: `only the ${first} path is served; the other: ${describe(reads[other])}`,
          means: 'The default finds it by itself; the setting saves one call of each process after a start.',
          setting: `SCS_SESSION_PATH=${first}`,
        };
  const read = reads[first];
  return [
    path,
    ...driftFindings('read', '2.5', read),
    ...(second === undefined ? [] : [ofEquality(reads)]),
    ...ofState(read),
    ...ofSecretLink(read),
  ];
}

const describe = (read: SeenSession): string => (read.call === null ? 'not asked' : describeCall(read.call));

function ofEquality(reads: Reads): Finding {
  const line = { check: 'read.same', says: 'the same operation' };
  return reads.onboarding.facts === reads.user.facts
    ? { ...line, level: 'fits', saw: 'both paths return the same', means: '' }
    : {
        ...line,
        level: 'differs',
        saw: 'the paths return different sessions',
        means:
          'Use one path only, or the state changes back and forth. Ask the provider which path is right.',
        setting: 'SCS_SESSION_PATH=<onboarding or user>',
      };
}

function ofState({ state }: SeenSession): Finding[] {
  if (state === null) return [];
  const line = {
    check: 'read.flags',
    says: 'finished=false, active=true, expired=false, no inverters',
    saw: `the state ${state}`,
  };
  switch (state) {
    case 'awaiting_owner':
      return [{ ...line, level: 'fits', means: '' }];
    case 'awaiting_installation':
      return [
        {
          ...line,
          level: 'differs',
          means:
            'If nobody has opened the link yet: updatedAt moves without the owner, so `awaiting_installation` does not mean that the owner has finished. Rely on `online` alone.',
        },
      ];
    case 'online':
      return [{ ...line, level: 'fits', means: 'The session of an earlier run has come online.' }];
    default:
      return [
        { ...line, level: 'differs', means: 'Ask the provider what the flags of an open session mean.' },
      ];
  }
}

function ofSecretLink({ startUrl }: SeenSession): Finding[] {
  if (startUrl === undefined) return [];
  return [
    {
      check: 'read.startUrl',
      level: 'differs',
      says: 'only in the response to a start',
      saw: 'the read has it, too',
      means: 'It is not stored from there. Who may read the session may act for the owner.',
    },
  ];
}

const ofCall = (name: string, { call }: SeenObject): Finding => ({
  check: `${name}.request`,
  level: 'fits',
  says: 'a JSON object; the status is not shown',
  saw: call === null ? 'done earlier, and not repeated' : describeCall(call),
  means: call === null ? 'Differences of its response are those that were recorded then.' : '',
});

const failed = (name: string, section: string, { fault }: SeenObject): Finding => ({
  check: `${name}.request`,
  level: 'fails',
  says: `section ${section}`,
  saw: fault ?? 'no response',
  means: '',
});

function ofTimes(
  name: string,
  says: string,
  value: unknown,
  isDescribed: (form: TimeForm) => boolean,
): Finding[] {
  const form = timeFormOf(value);
  if (form === null) return [];
  const line = { check: `${name}.times`, says, saw: describeTimeForm(form) };
  if (isDescribed(form)) return [{ ...line, level: 'fits', means: '' }];
  const means =
    form.zone === 'none'
      ? 'A time without a zone is not read. Ask the provider for its zone.'
      : 'We read this form as well.';
  return [{ ...line, level: 'differs', means }];
}
