import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { deliver, deliverWith } from './delivery.js';
import { newToken, type Condition } from './habits.js';
import type { Operation } from './ledger.js';
import type { Sandbox } from './sandbox.js';
import {
  expiresInOf,
  json,
  sessionResponse,
  readRegistration,
  refusal,
  startResponse,
  tokenResponse,
  userResponse,
  userTimestamp,
  type WireResponse,
} from './wire.js';

const BASE = '/api/v1/ssa';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

type SessionParams = { userId?: string; sessionId: string };

/** Serves the remote interface. Section numbers are those of the Solar Curtailment Service's interface description. */
export const remoteInterface =
  (sandbox: Sandbox): FastifyPluginAsync =>
  async (app) => {
    const { state, settings, ledger, credentials } = sandbox;

    // Reads bodies of any type as text, because a JSON parser would alter the digits of EANs.
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));

    /**
     * Returns null if the credentials are valid. Section 5 requires the ApiKey and, except for the token request and the probe, a bearer
     * token. The scheme is `Bearer`, although `token_type` is `pvcurtailment`.
     */
    const refuseCredentials = (request: FastifyRequest, operation: Operation): WireResponse | null => {
      const { apikey, authorization = '' } = request.headers;
      if (apikey !== credentials.apiKey) {
        const refused = refuse(
          apikey === undefined ? 'no_key' : 'wrong_key',
          401,
          'the ApiKey header is missing or wrong',
        );
        // A recorded service may accept a request without a valid key.
        if (refused.status >= 300) return refused;
      }
      if (operation === 'token' || operation === 'probe') return null;
      const token = /^Bearer (\S+)$/.exec(authorization)?.[1];
      if (token !== undefined && state.isTokenValid(token, Date.now())) return null;
      return refuse('no_token', 401, 'the bearer token is missing, unknown or expired');
    };

    /** Returns the recorded response under this condition, or else the sandbox's own. */
    const refuse = (condition: Condition, status: number, message: string): WireResponse =>
      sandbox.habits()?.refusals[condition] ?? refusal(status, message);

    const turnAway = (): WireResponse => {
      ledger.requestTurnedAway();
      const response = refusal(settings().overloadStatus, 'too many requests');
      const retryAfter = settings().overloadRetryAfter;
      return retryAfter === null
        ? response
        : { ...response, headers: { ...response.headers, 'retry-after': retryAfter } };
    };

    const serve =
      (operation: Operation, route: string, responseTo: (request: FastifyRequest) => WireResponse) =>
      (request: FastifyRequest, reply: FastifyReply): FastifyReply | Promise<FastifyReply> => {
        const sessionId = operation === 'read_session' ? (request.params as SessionParams).sessionId : null;
        const departed = ledger.requestArrived(operation, route, request.url, sessionId);
        reply.raw.once('close', () => departed(reply.raw.headersSent ? reply.raw.statusCode : null));

        const { maxInFlight, latencyMs } = settings();
        if (maxInFlight > 0 && ledger.inFlight > maxInFlight) return deliver(reply, turnAway());
        const refused = refuseCredentials(request, operation);
        if (refused) return deliver(reply, refused);

        const brand = sessionId && (state.findSession(sessionId, Date.now())?.brand ?? null);
        const fault = sandbox.faults.take(operation, request.url, request.body, brand);
        const habits = sandbox.habits();
        let response = fault && !fault.effect ? NO_EFFECT : responseTo(request);
        if (habits !== null && response.status < 300)
          response = { ...response, headers: { ...response.headers, ...habits.headers } };
        const send = () => (fault ? deliverWith(reply, response, fault) : deliver(reply, response));
        const delayMs = latencyMs || (habits?.latencyMs[operation] ?? 0);
        return delayMs > 0 ? sleep(delayMs).then(send) : send();
      };

    const get = (operation: Operation, path: string, responseTo: (request: FastifyRequest) => WireResponse) =>
      app.get(`${BASE}${path}`, serve(operation, `GET ${BASE}${path}`, responseTo));
    const post = (
      operation: Operation,
      path: string,
      responseTo: (request: FastifyRequest) => WireResponse,
    ) => app.post(`${BASE}${path}`, serve(operation, `POST ${BASE}${path}`, responseTo));

    // Section 4.5 does not show the response to the probe.
    get('probe', '', () => sandbox.habits()?.probe ?? refusal(200, 'the sandbox is up'));

    post('token', '/oauth/token', (request) => {
      const form = new URLSearchParams(typeof request.body === 'string' ? request.body : '');
      if (!request.headers['content-type']?.startsWith('application/x-www-form-urlencoded')) {
        return refusal(400, 'the body must be application/x-www-form-urlencoded');
      }
      if (form.get('grant_type') !== 'client_credentials')
        return refusal(400, 'grant_type must be client_credentials');
      if (form.get('scope') !== 'pvcurtailment') return refusal(400, 'scope must be pvcurtailment');
      if (
        form.get('client_id') !== credentials.clientId ||
        form.get('client_secret') !== credentials.clientSecret
      ) {
        return refuse('wrong_secret', 401, 'client_id or client_secret is wrong');
      }
      const now = Date.now();
      const { tokenLifetimeMs, tokenForm } = settings();
      const expiresAt = now + tokenLifetimeMs;
      const habits = sandbox.habits()?.token;
      if (habits?.endsEarlier) state.revokeTokens();
      const accessToken = state.issueToken(expiresAt, habits?.form ? newToken(habits.form, now) : undefined);
      ledger.tokenIssued(now, accessToken);
      if (habits) return tokenResponse(accessToken, expiresInOf(habits, now, expiresAt), habits);
      if (tokenForm === 'timestamp') return tokenResponse(accessToken, userTimestamp(expiresAt));
      if (tokenForm === 'seconds') return tokenResponse(accessToken, Math.floor(tokenLifetimeMs / 1000));
      return tokenResponse(accessToken, tokenForm.value);
    });

    post('register_user', '/users', (request) => {
      const body = typeof request.body === 'string' ? request.body : '';
      const registration = readRegistration(body);
      if (typeof registration === 'string') return refusal(400, registration);
      const user = state.registerUser(registration, Date.now());
      ledger.userRegistered({
        at: user.createdAt,
        userId: user.id,
        tenantReference: user.tenantReference,
        eans: registration.eans,
        body,
      });
      return userResponse(user, 'Sandbox tenant', sandbox.habits()?.user);
    });

    post('start_session', '/onboarding/pv/:gridLocationId', (request) => {
      const { gridLocationId } = request.params as { gridLocationId: string };
      if (!UUID.test(gridLocationId)) return refusal(400, 'gridLocationId must be a UUID');
      const now = Date.now();
      const { sessionLifetimeMs: lifetimeMs, scenario, speed } = settings();
      const session = state.startSession(gridLocationId, { lifetimeMs, scenario, speed }, now);
      if (session === null) return refuse('unknown_id', 404, 'there is no such grid location');
      ledger.sessionStarted({ at: now, sessionId: session.sessionId, gridLocationId });
      return startResponse(session, sandbox.url(), sandbox.habits()?.start);
    });

    const read = (request: FastifyRequest, shape: 'onboarding' | 'user'): WireResponse => {
      const { userId, sessionId } = request.params as SessionParams;
      const { sessionPath } = settings();
      if (sessionPath !== 'both' && sessionPath !== shape) return refuse('unserved_path', 404, 'not found');
      if (!UUID.test(sessionId)) return refusal(400, 'sessionId must be a UUID');
      const session = state.findSession(sessionId, Date.now());
      if (session === null || (userId !== undefined && userId !== session.userId)) {
        return refuse('unknown_id', 404, 'there is no such session');
      }
      return sessionResponse(session, sandbox.habits()?.read);
    };
    get('read_session', '/onboarding/pv/:sessionId', (request) => read(request, 'onboarding'));
    get('read_session', '/users/:userId/pv/onboarding-sessions/:sessionId', (request) =>
      read(request, 'user'),
    );
  };

/** The response to a request that has no effect because of a fault (`effect: false`). The fault may replace this response. */
const NO_EFFECT = json(200, '{}');
