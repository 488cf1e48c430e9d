import type { FastifyInstance, FastifyReply } from 'fastify';
import { BODIES, readBody } from './bodies.js';
import { planScenario, type ScenarioName } from '../scenarios.js';
import type { Sandbox } from '../sandbox.js';
import { applyChange, completeFlow, type Change, type Session } from '../session.js';

type SessionRoute = { Params: { sessionId: string } };

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

/** Adds the routes of the control API that list, read and change sessions. */
export const sessionControl = (app: FastifyInstance, sandbox: Sandbox): void => {
  const { state } = sandbox;

  const withSession = (
    sessionId: string,
    reply: FastifyReply,
    act: (session: Session, now: number) => void,
  ): FastifyReply => {
    const now = Date.now();
    const session = state.findSession(sessionId, now);
    if (session === null) return reply.code(404).send({ message: 'there is no such session' });
    act(session, now);
    state.onChange();
    return reply.send(describeSession(session));
  };
  const changeSession = (sessionId: string, reply: FastifyReply, change: Change): FastifyReply =>
    withSession(sessionId, reply, (session, now) => applyChange(session, change, now));

  app.get('/sandbox/sessions', () => ({ items: state.sessionsAt(Date.now()).map(describeSession) }));

  app.get<SessionRoute>('/sandbox/sessions/:sessionId', ({ params }, reply) =>
    withSession(params.sessionId, reply, () => undefined),
  );

  app.post<SessionRoute>('/sandbox/sessions/:sessionId/complete', (request, reply) => {
    const body = readBody<CompleteBody>(request.body, BODIES.complete);
    const brand = sandbox.settings().brands.find(({ id }) => id === body.brand);
    if (body.brand !== undefined && brand === undefined) {
      return reply.code(404).send({ message: 'there is no such brand' });
    }
    return withSession(request.params.sessionId, reply, (session, now) => {
      session.brand = brand?.id ?? session.brand;
      const afterMs = body.onlineAfterMs === undefined ? (brand?.onlineAfterMs ?? null) : body.onlineAfterMs;
      completeFlow(session, now, { afterMs, inverters: body.inverters ?? 1 });
    });
  });

  app.post<SessionRoute>('/sandbox/sessions/:sessionId/online', (request, reply) => {
    const { inverters = 1, finished = true } = readBody<OnlineBody>(request.body, BODIES.online);
    return changeSession(request.params.sessionId, reply, { do: 'online', inverters, finished });
  });

  app.delete<{ Params: { sessionId: string; inverterId: string } }>(
    '/sandbox/sessions/:sessionId/inverters/:inverterId',
    ({ params }, reply) =>
      changeSession(params.sessionId, reply, { do: 'remove_inverter', inverterId: params.inverterId }),
  );

  app.post<SessionRoute>('/sandbox/sessions/:sessionId/expire', ({ params }, reply) =>
    changeSession(params.sessionId, reply, { do: 'expire' }),
  );

  app.post<SessionRoute>('/sandbox/sessions/:sessionId/fields', (request, reply) => {
    const { set = {}, absent = [] } = readBody<FieldsBody>(request.body, BODIES.fields);
    const isEmpty = Object.keys(set).length === 0 && absent.length === 0;
    return changeSession(request.params.sessionId, reply, {
      do: 'override',
      override: isEmpty ? null : { set, absent },
    });
  });

  app.post<SessionRoute>('/sandbox/sessions/:sessionId/scenario', (request, reply) => {
    const { settings } = sandbox;
    const { name, speed = settings().speed } = readBody<{ name: ScenarioName; speed?: number }>(
      request.body,
      BODIES.scenario,
    );
    return withSession(request.params.sessionId, reply, (session, now) => {
      session.scenario = name;
      session.planned = planScenario(name, speed, now);
    });
  });

  app.delete<SessionRoute>('/sandbox/sessions/:sessionId', ({ params }, reply) =>
    changeSession(params.sessionId, reply, { do: 'delete' }),
  );
};

const instant = (at: number): string => new Date(at).toISOString();

export const describeSession = (session: Session) => ({
  ...session,
  createdAt: instant(session.createdAt),
  updatedAt: instant(session.updatedAt),
  expiresAt: instant(session.expiresAt),
  completedAt: session.completedAt === null ? null : instant(session.completedAt),
  planned: session.planned.map(({ dueAt, change }) => ({ dueAt: instant(dueAt), change })),
});
