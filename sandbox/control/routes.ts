import type { FastifyPluginAsync } from 'fastify';
import { BadBody, BODIES, readBody } from './bodies.js';
import { describeFault, release, type FaultScript } from '../faults.js';
import { readRecording } from '../habits.js';
import { onlyTrusted } from '../loopback.js';
import { SCENARIOS } from '../scenarios.js';
import type { Sandbox } from '../sandbox.js';
import { sessionControl } from './session.routes.js';
import type { Settings } from '../settings.js';
import { userTimestamp } from '../wire.js';

/** The API with which tests and demos control the sandbox. It needs no key. */
export const control =
  (sandbox: Sandbox): FastifyPluginAsync =>
  async (app) => {
    const { state, faults, ledger } = sandbox;
    app.addHook('onRequest', onlyTrusted(sandbox.publicUrl));
    // Fastify's own JSON parser refuses an empty body. This parser reads an empty body as null.
    app.removeContentTypeParser('application/json');
    app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => {
      try {
        done(null, body === '' ? null : JSON.parse(body.toString()));
      } catch {
        done(new BadBody('the body is not valid JSON'));
      }
    });

    sessionControl(app, sandbox);

    app.get('/sandbox/users', () => ({
      items: state.users.map((user) => ({ ...user, createdAt: userTimestamp(user.createdAt) })),
    }));
    app.get('/sandbox/scenarios', () => ({
      items: Object.entries(SCENARIOS).map(([name, { describes }]) => ({ name, describes })),
    }));
    app.get('/sandbox/settings', () => sandbox.settings());
    app.patch('/sandbox/settings', ({ body }) => {
      sandbox.change(readBody<Partial<Settings>>(body, BODIES.settings));
      return sandbox.settings();
    });

    app.post('/sandbox/like', ({ body }, reply) => {
      sandbox.like(readRecording(JSON.stringify(body)));
      return reply.code(204).send();
    });

    app.get('/sandbox/faults', () => ({ items: faults.list() }));
    app.post('/sandbox/faults', ({ body }, reply) =>
      reply.code(201).send(describeFault(faults.add(readBody<FaultScript>(body, BODIES.fault)))),
    );
    app.post<{ Params: { id: string } }>('/sandbox/faults/:id/release', ({ params }, reply) => {
      const fault = faults.find(Number(params.id));
      return fault
        ? { released: release(fault) }
        : reply.code(404).send({ message: 'there is no such fault' });
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
    app.post('/sandbox/seed', ({ body }) => {
      const { users } = readBody<{ users: number }>(body, BODIES.seed);
      return { items: Array.from({ length: users }, () => seedUser(sandbox)) };
    });
  };

/** Creates a user with one grid location and one open session. The ledger does not record them. */
export const seedUser = ({ state, settings }: Sandbox) => {
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
    sessionId: session?.sessionId ?? '',
  };
};
