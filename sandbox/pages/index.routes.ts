import type { FastifyPluginAsync } from 'fastify';
import { indexPage } from './index.page.js';
import { onlyTrusted } from '../loopback.js';
import type { Sandbox } from '../sandbox.js';
import { applyChange, completeFlow, type Session } from '../session.js';

const PLAY: Readonly<Record<string, (session: Session, now: number) => void>> = {
  complete: (session, now) => completeFlow(session, now, { afterMs: null, inverters: 0 }),
  online: (session, now) => applyChange(session, { do: 'online', inverters: 1, finished: true }, now),
  'remove-inverter': (session, now) => applyChange(session, { do: 'remove_inverter' }, now),
  expire: (session, now) => applyChange(session, { do: 'expire' }, now),
  delete: (session, now) => applyChange(session, { do: 'delete' }, now),
};

/** Serves the index page and the actions of its buttons. */
export const index =
  ({ state, publicUrl }: Sandbox): FastifyPluginAsync =>
  async (app) => {
    app.addHook('onRequest', onlyTrusted(publicUrl));
    app.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string' },
      (_request, _body, done) => done(null),
    );

    app.get('/', (_request, reply) =>
      reply.type('text/html; charset=utf-8').send(indexPage(state.users, state.sessionsAt(Date.now())).text),
    );

    app.post<{ Params: { sessionId: string; action: string } }>(
      '/play/:sessionId/:action',
      ({ params }, reply) => {
        const now = Date.now();
        const session = state.findSession(params.sessionId, now);
        const play = Object.hasOwn(PLAY, params.action) ? PLAY[params.action] : undefined;
        if (session === null || play === undefined) return reply.code(404).send({ message: 'not found' });
        play(session, now);
        state.onChange();
        return reply.redirect('/', 303);
      },
    );
  };
