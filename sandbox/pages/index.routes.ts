import type { FastifyPluginAsync } from 'fastify';
import { FAULT_BUTTONS, indexPage, ROWS, type Row } from './index.page.js';
import { BODIES, readBody } from '../control/bodies.js';
import type { FaultScript } from '../faults.js';
import { onlyTrusted } from '../loopback.js';
import type { Sandbox } from '../sandbox.js';
import { applyChange, completeFlow, isFlowOpen, type Session } from '../session.js';
import type { State } from '../state.js';

type Play = (session: Session, now: number, brand: string) => void;

const chooseBrand: Play = (session, _now, brand) => {
  if (isFlowOpen(session)) session.brand ??= brand;
};

const PLAY: Readonly<Record<string, Play>> = {
  brand: chooseBrand,
  'sign-in': (session, now, brand) => {
    chooseBrand(session, now, brand);
    if (isFlowOpen(session)) session.signedIn = true;
  },
  complete: (session, now) => completeFlow(session, now, { afterMs: null, inverters: 0 }),
  online: (session, now) => applyChange(session, { do: 'online', inverters: 1, finished: true }, now),
  'remove-inverter': (session, now) => applyChange(session, { do: 'remove_inverter' }, now),
  expire: (session, now) => applyChange(session, { do: 'expire' }, now),
  delete: (session, now) => applyChange(session, { do: 'delete' }, now),
};

/** Serves the index page and the actions of its buttons. */
export const index =
  ({ state, faults, settings, publicUrl }: Sandbox): FastifyPluginAsync =>
  async (app) => {
    app.addHook('onRequest', onlyTrusted(publicUrl));
    app.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string' },
      (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(body.toString()))),
    );

    app.get<{ Querystring: { q?: string; start?: string } }>('/', ({ query }, reply) => {
      const q = String(query.q ?? '').trim();
      const start = Math.max(0, Math.trunc(Number(query.start)) || 0);
      const found = rowsOf(state, Date.now()).filter((row) => matches(row, q.toLowerCase()));
      const rows = found.slice(start, start + ROWS);
      const content = indexPage({ rows, found: found.length, q, start, faults: faults.list() });
      return reply.type('text/html; charset=utf-8').send(content.text);
    });

    app.post<{ Body: Record<string, string> }>('/play/faults', ({ body, headers }, reply) => {
      if (body.kind === '') faults.clear();
      else {
        const script = readBody<FaultScript>(body, BODIES.fault);
        faults.add({ ...FAULT_BUTTONS[script.kind], ...script });
      }
      return reply.redirect(pageBefore(headers.referer), 303);
    });

    app.post<{ Params: { sessionId: string; action: string } }>(
      '/play/:sessionId/:action',
      ({ params, headers }, reply) => {
        const now = Date.now();
        const session = state.findSession(params.sessionId, now);
        const play = Object.hasOwn(PLAY, params.action) ? PLAY[params.action] : undefined;
        if (session === null || play === undefined) return reply.code(404).send({ message: 'not found' });
        play(session, now, settings().brands[0]?.id ?? 'unknown');
        state.onChange();
        return reply.redirect(pageBefore(headers.referer), 303);
      },
    );
  };

/** Returns the index page with the search and the place that the person had. */
const pageBefore = (referer = ''): string => `/${/\?.*/.exec(referer)?.[0] ?? ''}`;

/** Returns each session with its user, the users without a session first, and the newest first. */
function rowsOf(state: State, now: number): Row[] {
  const users = new Map(state.users.map((user) => [user.id, user]));
  const rows: Row[] = state
    .sessionsAt(now)
    .map((session) => ({ user: users.get(session.userId)!, session }))
    .reverse();
  const served = new Set(rows.map(({ user }) => user.id));
  const others = [...users.values()].filter(({ id }) => !served.has(id)).reverse();
  return [...others.map((user) => ({ user, session: null })), ...rows];
}

const matches = ({ user, session }: Row, q: string): boolean =>
  [
    user.tenantReference.toLowerCase(),
    user.id,
    session?.sessionId ?? '',
    ...user.gridLocations.flatMap(({ id, ean }) => [id, ean]),
  ].some((text) => text.includes(q));
