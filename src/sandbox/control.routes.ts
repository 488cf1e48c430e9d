import type { FastifyPluginAsync, FastifyReply } from 'fastify';
import { BODIES } from './control.schemas.js';
import { describeFault, release, type FaultScript } from './faults.js';
import { onlyFromHere } from './loopback.js';
import { planScenario, SCENARIOS, type ScenarioName } from './scenarios.js';
import type { Sandbox } from './server.js';
import { applyChange, completeFlow, type Change, type Session } from './session.js';
import type { Settings } from './settings.js';

interface SessionRoute {
  Params: { sessionId: string };
}

interface CompleteBody {
  readonly brand?: string;
  readonly inverters?: number;
  readonly onlineAfterMs?: number | null;
}

interface OnlineBody {
  readonly inverters?: number | readonly string[];
  readonly finished?: boolean;
}

interface FieldsBody {
  readonly set?: Readonly<Record<string, unknown>>;
  readonly absent?: readonly string[];
}

/** What tests and demos use to make the remote side do things. JSON, no key, this machine only. */
export const control =
  (sandbox: Sandbox): FastifyPluginAsync =>
  async (app) => {
    const { state, faults, ledger } = sandbox;
    app.addHook('onRequest', onlyFromHere);
    // A POST with a JSON content type and nothing in it is an ordinary call here.
    app.removeContentTypeParser('application/json');
    app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => {
      try {
        done(null, body === '' ? null : JSON.parse(body.toString()));
      } catch {
        done(Object.assign(new Error('the body is not valid JSON'), { statusCode: 400 }));
      }
    });

    const notFound = (reply: FastifyReply, what: string) =>
      reply.code(404).send({ message: `there is no such ${what}` });

    /** Answers with the session as it is afterwards. */
    const withSession = (
      sessionId: string,
      reply: FastifyReply,
      act: (session: Session, now: number) => void,
    ): unknown => {
      const now = Date.now();
      const session = state.findSession(sessionId, now);
      if (session === null) return notFound(reply, 'session');
      act(session, now);
      state.onChange();
      return describeSession(session);
    };
    const changeSession = (sessionId: string, reply: FastifyReply, change: Change): unknown =>
      withSession(sessionId, reply, (session, now) => applyChange(session, change, now));

    app.get('/sandbox/users', () => ({ items: state.users }));
    app.get('/sandbox/sessions', () => ({ items: state.sessionsAt(Date.now()).map(describeSession) }));
    app.get<SessionRoute>('/sandbox/sessions/:sessionId', ({ params }, reply) =>
      withSession(params.sessionId, reply, () => undefined),
    );

    app.post<SessionRoute & { Body: CompleteBody | null }>(
      '/sandbox/sessions/:sessionId/complete',
      { schema: { body: BODIES.complete } },
      ({ params, body }, reply) => {
        const brand = sandbox.settings().brands.find(({ id }) => id === body?.brand);
        if (body?.brand !== undefined && brand === undefined) return notFound(reply, 'brand');
        return withSession(params.sessionId, reply, (session, now) => {
          session.brand = brand?.id ?? session.brand;
          const afterMs =
            body?.onlineAfterMs === undefined ? (brand?.onlineAfterMs ?? null) : body.onlineAfterMs;
          completeFlow(session, now, { afterMs, inverters: body?.inverters ?? 1 });
        });
      },
    );
    app.post<SessionRoute & { Body: OnlineBody | null }>(
      '/sandbox/sessions/:sessionId/online',
      { schema: { body: BODIES.online } },
      ({ params, body }, reply) =>
        changeSession(params.sessionId, reply, {
          do: 'online',
          inverters: body?.inverters ?? 1,
          finished: body?.finished ?? true,
        }),
    );
    app.delete<{ Params: { sessionId: string; inverterId: string } }>(
      '/sandbox/sessions/:sessionId/inverters/:inverterId',
      ({ params }, reply) =>
        changeSession(params.sessionId, reply, { do: 'remove_inverter', inverterId: params.inverterId }),
    );
    app.post<SessionRoute>('/sandbox/sessions/:sessionId/expire', ({ params }, reply) =>
      changeSession(params.sessionId, reply, { do: 'expire' }),
    );
    app.post<SessionRoute & { Body: FieldsBody | null }>(
      '/sandbox/sessions/:sessionId/fields',
      { schema: { body: BODIES.fields } },
      ({ params, body }, reply) => {
        const override =
          body?.set || body?.absent ? { set: body.set ?? {}, absent: body.absent ?? [] } : null;
        return changeSession(params.sessionId, reply, { do: 'override', override });
      },
    );
    app.post<SessionRoute & { Body: { name: ScenarioName; speed?: number } }>(
      '/sandbox/sessions/:sessionId/scenario',
      { schema: { body: BODIES.scenario } },
      ({ params, body }, reply) =>
        withSession(params.sessionId, reply, (session, now) => {
          session.scenario = body.name;
          session.planned = planScenario(body.name, body.speed ?? sandbox.settings().speed, now);
        }),
    );
    app.delete<SessionRoute>('/sandbox/sessions/:sessionId', ({ params }, reply) =>
      changeSession(params.sessionId, reply, { do: 'delete' }),
    );

    app.get('/sandbox/scenarios', () => ({
      items: Object.entries(SCENARIOS).map(([name, { describes }]) => ({ name, describes })),
    }));
    app.get('/sandbox/settings', () => sandbox.settings());
    app.patch<{ Body: Partial<Settings> | null }>(
      '/sandbox/settings',
      { schema: { body: BODIES.settings } },
      ({ body }) => {
        sandbox.change(body ?? {});
        return sandbox.settings();
      },
    );

    app.get('/sandbox/faults', () => ({ items: faults.list() }));
    app.post<{ Body: FaultScript }>(
      '/sandbox/faults',
      { schema: { body: BODIES.fault } },
      ({ body }, reply) => reply.code(201).send(describeFault(faults.add(body))),
    );
    app.post<{ Params: { id: string } }>('/sandbox/faults/:id/release', ({ params }, reply) => {
      const fault = faults.find(Number(params.id));
      return fault ? { released: release(fault) } : notFound(reply, 'fault');
    });
    app.delete('/sandbox/faults', (_request, reply) => {
      faults.clear();
      return reply.code(204).send();
    });

    app.post('/sandbox/tokens/revoke', () => ({ revoked: state.revokeTokens() }));
    app.get('/sandbox/ledger', () => ledger.report());
    app.get('/sandbox/requests', () => ({ items: ledger.recentRequests() }));
    app.post('/sandbox/reset', (_request, reply) => {
      sandbox.reset();
      return reply.code(204).send();
    });

    app.post<{ Body: { users: number } }>('/sandbox/seed', { schema: { body: BODIES.seed } }, ({ body }) => ({
      items: Array.from({ length: body.users }, () => seedUser(sandbox)),
    }));
  };

/** A user with one grid location and an open session, made without a request and so without an entry in the ledger. */
const seedUser = ({ state, settings }: Sandbox): object => {
  const now = Date.now();
  const { sessionLifetimeMs: lifetimeMs, scenario, speed } = settings();
  const number = state.userCount + 1;
  const ean = `5414${String(number).padStart(14, '0')}`;
  const user = state.registerUser({ tenantReference: `seed-${number}`, eans: [ean] }, now);
  const gridLocationId = user.gridLocations[0]?.id ?? '';
  const session = state.startSession(gridLocationId, { lifetimeMs, scenario, speed }, now);
  return {
    userId: user.id,
    tenantReference: user.tenantReference,
    gridLocationId,
    ean,
    sessionId: session?.sessionId,
  };
};

const describeSession = (session: Session): object => ({
  ...session,
  createdAt: new Date(session.createdAt),
  updatedAt: new Date(session.updatedAt),
  expiresAt: new Date(session.expiresAt),
  completedAt: session.completedAt === null ? null : new Date(session.completedAt),
  planned: session.planned.map(({ dueAt, change }) => ({ dueAt: new Date(dueAt), change })),
});
