import { jobFindings } from './job-findings.rules.js';
import { networkFindings } from './network-findings.rules.js';
import {
  type Finding,
  isLost,
  type Level,
  type Seen,
  type SeenCall,
  type SeenResponse,
} from './seen.rules.js';
import { silentFindings } from './silent-findings.rules.js';
import { tokenFindings } from './token-findings.rules.js';

/** Returns what a check has found, in the order of the calls. */
export function judge(seen: Seen): Finding[] {
  const responses = responsesOf(seen);
  return [
    ...networkFindings(seen, responses),
    ...tokenFindings(seen),
    ...silentFindings(seen, responses),
    ...(seen.job === null ? [] : jobFindings(seen.job)),
  ];
}

/** Returns all responses of a check. */
function responsesOf({ probe, token, refusals, harm, job }: Seen): SeenResponse[] {
  const { no_key, no_token, unknown_id } = refusals;
  const calls: (SeenCall | null | undefined)[] = [
    probe,
    token.call,
    no_key,
    no_token,
    ...(unknown_id === null ? [] : [unknown_id.onboarding, unknown_id.user]),
    ...(harm === null ? [] : [harm.wrong_key, harm.wrong_secret, harm.earlierToken]),
    ...(job === null
      ? []
      : [job.user.call, job.start?.call, job.reads?.onboarding.call, job.reads?.user.call]),
  ];
  return calls.filter((call): call is SeenResponse => call !== null && call !== undefined && !isLost(call));
}

/** The exit code: 0 fits, 1 does not work, 3 differs. */
export function exitCodeOf(findings: readonly Finding[]): 0 | 1 | 3 {
  const has = (level: Level) => findings.some((finding) => finding.level === level);
  return has('fails') ? 1 : has('differs') ? 3 : 0;
}

/** Returns the settings that follow, each once. */
export const settingsOf = (findings: readonly Finding[]): string[] => [
  ...new Set(findings.flatMap(({ setting }) => (setting === undefined ? [] : [setting]))),
];

/** What no run asks, because it would cost too much or cannot be undone. */
export const NEVER_ASKED = [
  'Whether a second registration of a reference creates a second user (section 4.2). We never send one.',
  'What happens at expiresAt, and what a failed or abandoned web flow looks like (section 3).',
  'Whether the inverters of a session that was online ever shrink, when an installation is removed (section 2.6).',
  'Rate limits and size limits (section 8).',
];
