import type { INestApplication } from '@nestjs/common';
import { recordDone } from '../../access/audit-log.store.js';
import { AppModule } from '../../app.module.js';
import { AuthorisedRemote } from '../../auth/authorised-remote.service.js';
import { DriftModule } from '../../drift/drift.module.js';
import * as session from '../../onboarding/remote/session.client.js';
import { classify } from '../../onboarding/rules/machine.rules.js';
import { StartSessionService } from '../../onboarding/start/start-session.service.js';
import { Database } from '../../platform/database/database.js';
import { requireHome } from '../../platform/database/deployment.store.js';
import type { Environment } from '../../platform/env/environment.js';
import { createApp } from '../../platform/http/create-app.js';
import { Problem } from '../../platform/problem/problem.js';
import type { Drift } from '../../remote/drift.js';
import type { OperationClass, Sent } from '../../remote/outcome.rules.js';
import { Remote } from '../../remote/remote.service.js';
import { RegistrationsService } from '../../users/registration/registrations.service.js';
import type { RegistrationRecord } from '../../users/registration/registrations.store.js';
import { readRegisterUserResponse, USER_RESPONSE } from '../../users/remote/users.client.js';
import { ACTOR } from '../command-environment.js';
import { readBody } from './ask-remote.js';
import type { SeenCall, SeenJob, SeenSession, SeenUser } from './seen.rules.js';

export interface OneCustomer {
  readonly tenantReference: string;
  readonly ean: string;
}

const RECORDED_DRIFT = `
  SELECT kind, field, expected, found FROM remote_drift WHERE operation = $1 ORDER BY first_seen_at, field`;

/** What was registered and started, now or by an earlier run. */
interface Onboarded {
  readonly seen: SeenJob;
  readonly sessionId: string | null;
}

/**
 * Registers one customer and starts one session, by the same code as the API. So our database has both before each call, and a further run
 * continues where this one ended: it repeats no call that was made. A service that runs watches the session from then on.
 */
export async function onboardOnce(environment: Environment, customer: OneCustomer): Promise<Onboarded> {
  const app = await createApp(AppModule.forRoot(environment, [DriftModule]), environment, false);
  try {
    await requireHome(app.get(Database));
    await app.init();
    return await onboard(app, customer);
  } finally {
    await app.close();
  }
}

async function onboard(app: INestApplication, customer: OneCustomer): Promise<Onboarded> {
  const calls = new Map<OperationClass | 'probe', SeenCall>();
  app.get(Remote).measure((operation, sent, seconds) => {
    if (seconds !== null) calls.set(operation, callOf(sent, seconds * 1_000));
  });
  const recorded = (operation: OperationClass): Promise<Drift[]> =>
    app.get(Database).query<Drift & object>(RECORDED_DRIFT, [operation]);
  const { tenantReference, ean } = customer;

  const registered = await faultOf(() =>
    app.get(RegistrationsService).register({ tenantReference, gridLocations: [{ ean }] }),
  );
  const userCall = calls.get('register_user') ?? null;
  const seenUser = userCall === null ? { ...NOT_REPEATED, keepsDigits: null } : userOf(userCall, customer);
  const ended = (user: SeenUser, start: SeenSession | null): Onboarded => ({
    seen: { user, start, known: 0, reads: null },
    sessionId: null,
  });
  if ('fault' in registered) return ended({ ...seenUser, fault: registered.fault }, null);
  if (registered.value.kind === 'open')
    return ended({ ...seenUser, fault: faultOfOpen(registered.value.registration) }, null);
  const { user } = registered.value;
  const usedUser = userCall === null ? { ...seenUser, drifts: await recorded('register_user') } : seenUser;
  if (userCall !== null) await audit(app, 'remote_check.registered', user.id);
  const gridLocationId = user.gridLocations.find((location) => location.ean === ean)!.id;

  const started = await faultOf(() =>
    app.get(StartSessionService).start({ gridLocationId, brand: null, metadata: {}, reuse: true }),
  );
  const startCall = calls.get('start_session') ?? null;
  if ('fault' in started) {
    const seenStart = startCall === null ? NOT_REPEATED : startOf(startCall);
    return ended(usedUser, { ...seenStart, fault: started.fault });
  }
  const { id: sessionId } = started.value.session;
  if (startCall !== null) await audit(app, 'remote_check.started', sessionId);
  const start: SeenSession =
    startCall === null
      ? { ...NOT_REPEATED, drifts: await recorded('start_session') }
      : startOf(startCall, sessionId);
  const [row] = await app.get(Database).query<{ at: Date; known: number }>(
    `SELECT started_updated_at AS at, (SELECT count(*)::int FROM inverters i WHERE i.session_id = s.id) AS known
         FROM onboarding_sessions s WHERE id = $1`,
    [sessionId],
  );
  const read = async (shape: session.PathShape): Promise<SeenSession> => {
    const request = session.readSessionRequest(shape, { sessionId, userId: user.id });
    const sentAt = performance.now();
    const sent = await app
      .get(AuthorisedRemote)
      .send({ ...request, priority: 'foreground' }, 'user', user.id);
    return sessionOf(callOf(sent, performance.now() - sentAt), session.READ_RESPONSE, sessionId, row!.at);
  };
  const reads = { onboarding: await read('onboarding'), user: await read('user') };
  return { seen: { user: usedUser, start, known: row!.known, reads }, sessionId };
}

const NOT_REPEATED: SeenSession = {
  ...{ call: null, drifts: [], fault: null, createdAt: undefined, expiresAt: undefined },
  ...{ startUrl: undefined, state: null, listed: null, facts: null },
};

const audit = (app: INestApplication, action: string, target: string): Promise<void> =>
  app.get(Database).transaction((tx) => recordDone(tx, { actor: ACTOR, action, target }));

const callOf = (sent: Sent, ms: number): SeenCall => {
  if (sent.kind !== 'response') return { lost: sent.reason };
  const { status, body, contentType } = sent.response;
  const headers: Record<string, string> = {};
  if (contentType !== undefined) headers['content-type'] = contentType;
  return { status, headers, body, ms, receivedAt: new Date() };
};

/** Returns the result, or why the service refuses. Any other error is a bug or an outage of the database. */
async function faultOf<T>(
  work: () => Promise<T>,
): Promise<{ readonly value: T } | { readonly fault: string }> {
  try {
    return { value: await work() };
  } catch (error) {
    if (error instanceof Problem) return { fault: error.message };
    throw error;
  }
}

const faultOfOpen = (registration: Pick<RegistrationRecord, 'id' | 'status' | 'lastError'>): string =>
  `registration ${registration.id} is ${registration.status}: ${registration.lastError ?? 'no response yet'}`;

/** Reads a response to a registration as the service does. */
export function userOf(call: SeenCall, { tenantReference, ean }: OneCustomer): SeenUser {
  const requested = { tenantReference, eans: [ean] };
  const read = readBody(call, USER_RESPONSE, (fields) => readRegisterUserResponse(fields, requested));
  const keepsDigits = read.fault === null && 'body' in call ? call.body.includes(ean) : null;
  const { drifts, fault, fields } = read;
  return { call, drifts, fault, keepsDigits, createdAt: fields?.createdAt };
}

/** Reads a response to a start. Without a `sessionId`, it could not be used. */
const startOf = (call: SeenCall, sessionId = ''): SeenSession =>
  sessionOf(call, session.START_RESPONSE.documented, sessionId, null);

/** Reads a response about a session as the service does. `startedUpdatedAt`: `updatedAt` of the response to the start. */
export function sessionOf(
  call: SeenCall,
  documented: Parameters<typeof readBody>[1],
  sessionId: string,
  startedUpdatedAt: Date | null,
): SeenSession {
  const read = readBody(call, documented, (fields) => session.readReadSessionResponse(fields, sessionId));
  const { drifts, fault, fields, value } = read;
  const { createdAt, expiresAt, startUrl } = fields ?? {};
  return {
    ...{ call, drifts, fault, createdAt, expiresAt, startUrl },
    state: value && classify(value, startedUpdatedAt ?? value.updatedAt).state,
    listed: value?.inverters?.length ?? null,
    facts: value && session.hashFacts(value),
  };
}
