import { readExpiresIn } from '../../auth/expires-in.rules.js';
import type { Drift } from '../../remote/drift.js';
import { isLost, lifetimeMsOf, statusOf, timeFormOf } from './seen.rules.js';
import type { Seen, SeenCall, SeenObject, SeenSession, TokenForm } from './seen.rules.js';

/** The version of the format. `npm run sandbox -- --like FILE` reads it (sandbox/habits.ts). */
const VERSION = 1;
const MOST_BODY = 2_000;
const MOST_LATENCY_MS = 30_000;
/** The headers that show how a service behaves. Others may name machines or people. */
const KEPT =
  /^(?:content-type|cache-control|retry-after|www-authenticate|allow|(?:x-)?ratelimit-[a-z-]{1,40})$/;
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;

/** Returns text without secrets and personal data. */
type Redact = (text: string, maxLength: number) => string;

/** Returns what the sandbox needs to behave like the service: forms, statuses and errors, without ids, names, tokens and links. */
export function recordingOf(seen: Seen, redact: Redact) {
  const { token, refusals, harm, job, probe } = seen;
  const { reading, lifetimeMs } = readExpiresIn(token.expiresIn, token.receivedAt);
  const refused = {
    no_key: refusals.no_key,
    no_token: refusals.no_token,
    unknown_id: unknownOf(refusals.unknown_id, job),
    wrong_key: harm?.wrong_key ?? refusals.no_key,
    wrong_secret: harm?.wrong_secret ?? null,
    unserved_path: unservedOf(job),
  };
  const known = Object.entries(refused).flatMap(([name, call]) => {
    const refusal = call && refusalOf(call, redact);
    return refusal === null ? [] : [[name, refusal] as const];
  });
  const times = (value: unknown) => timeFormOf(value);
  return {
    recording: 'solar-curtailment-service',
    version: VERSION,
    recordedAt: seen.at.toISOString(),
    headers: token.call === null || isLost(token.call) ? {} : keptOf(token.call.headers, redact),
    latencyMs: latenciesOf(seen),
    probe: refusalOf(probe, redact),
    token: {
      status: statusOf(token.call) ?? 200,
      expiresIn: reading === 'not_understood' ? 'absent' : reading,
      asText:
        typeof token.expiresIn === 'string' && /^\d/.test(token.expiresIn) && !/[-T:]/.test(token.expiresIn),
      lifetimeSeconds: Math.max(1, Math.round(lifetimeMs / 1_000)),
      form: token.form && formOf(token.form, token.receivedAt),
      tokenType: typeof token.tokenType === 'string' ? redact(token.tokenType, 100) : null,
      endsEarlier: harm !== null && !isLost(harm.earlierToken) && harm.earlierToken.status === 401,
    },
    refusals: Object.fromEntries(known),
    sessionPath: servedPath(job),
    user: job && isShaped(job.user) ? shapeOf(job.user, times(job.user.createdAt)) : null,
    start:
      job?.start && isShaped(job.start)
        ? { ...shapeOf(job.start, times(job.start.createdAt)), lifetimeSeconds: lifetimeSecondsOf(job.start) }
        : null,
    read: readShapeOf(job),
  };
}

/** A response that could not be used has a shape, too, with which the sandbox reproduces the difference. */
const isShaped = ({ call, fault }: SeenObject): boolean =>
  fault === null || (call !== null && !isLost(call) && call.status < 300);

function formOf({ isJwt, length, endsAt }: TokenForm, receivedAt: Date) {
  const ms = endsAt === null ? null : endsAt.getTime() - receivedAt.getTime();
  return { isJwt, length, lifetimeSeconds: ms === null || ms < 1_000 ? null : Math.round(ms / 1_000) };
}

/** Returns the read of an unknown session by a path that is served, as far as that is known. */
function unknownOf(calls: Seen['refusals']['unknown_id'], job: Seen['job']): SeenCall | null {
  if (calls === null) return null;
  const isUnserved = !isLost(calls.onboarding) && [405, 501].includes(calls.onboarding.status);
  return servedPath(job) === 'user' || isUnserved ? calls.user : calls.onboarding;
}

function refusalOf(call: SeenCall, redact: Redact) {
  if (isLost(call)) return null;
  const body = redact(call.body.replace(UUID, '00000000-0000-4000-8000-000000000000'), MOST_BODY);
  return { status: call.status, headers: keptOf(call.headers, redact), body };
}

const keptOf = (headers: Readonly<Record<string, string>>, redact: Redact): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => KEPT.test(name))
      .map(([name, value]) => [name, redact(value, 200).replace(/[^\x20-\x7e]/g, '?')]),
  );

function shapeOf({ call, drifts }: SeenObject, times: ReturnType<typeof timeFormOf>) {
  return {
    status: statusOf(call) ?? 200,
    times,
    differences: drifts
      .filter(({ expected }) => times === null || expected !== 'timestamp')
      .filter(isReproducible)
      .map(differenceOf),
  };
}

const isReproducible = ({ kind, field }: Drift): boolean =>
  ['new_field', 'missing_field', 'other_type'].includes(kind) &&
  /^(?:\w+\[\]\.)?[A-Za-z_$][\w$-]{0,39}$/.test(field);

const differenceOf = ({ kind, field, found }: Drift) => ({
  kind,
  field,
  found: found?.startsWith('timestamp') ? 'another string' : found,
});

function readOf(job: Seen['job']): SeenSession | null {
  const reads = Object.values(job?.reads ?? {});
  return reads.find(({ fault }) => fault === null) ?? reads.find(isShaped) ?? null;
}

function readShapeOf(job: Seen['job']) {
  const read = readOf(job);
  return read === null ? null : shapeOf(read, timeFormOf(read.createdAt));
}

function servedPath(job: Seen['job']): 'both' | 'onboarding' | 'user' {
  if (!job?.reads) return 'both';
  const { onboarding, user } = job.reads;
  if (onboarding.fault === null) return user.fault === null ? 'both' : 'onboarding';
  return user.fault === null ? 'user' : 'both';
}

function unservedOf(job: Seen['job']): SeenCall | null {
  const path = servedPath(job);
  if (path === 'both' || !job?.reads) return null;
  return job.reads[path === 'onboarding' ? 'user' : 'onboarding'].call;
}

function lifetimeSecondsOf(start: SeenSession): number | null {
  const ms = lifetimeMsOf(start);
  return ms === null ? null : Math.max(1, Math.round(ms / 1_000));
}

function latenciesOf({ probe, token, job }: Seen): Record<string, number> {
  const calls = {
    probe,
    token: token.call,
    register_user: job?.user.call ?? null,
    start_session: job?.start?.call ?? null,
    read_session: readOf(job)?.call ?? null,
  };
  const measured = Object.entries(calls).flatMap(([name, call]) =>
    call === null || isLost(call) ? [] : [[name, Math.min(MOST_LATENCY_MS, Math.round(call.ms))] as const],
  );
  return Object.fromEntries(measured);
}
