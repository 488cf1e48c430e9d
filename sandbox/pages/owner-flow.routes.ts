import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import type { Html } from './markup.js';
import {
  authorisePage,
  brandPage,
  closedPage,
  donePage,
  INSTALLATIONS,
  signInPage,
} from './owner-flow.pages.js';
import type { Sandbox } from '../sandbox.js';
import { completeFlow, isFlowOpen, type Session } from '../session.js';

type Link = { Params: { link: string } };

/**
 * Serves the owner's web flow at `startUrl`: choose a brand, sign in, allow monitoring and curtailment. The session stores the owner's
 * progress, so the link opens the current step.
 */
export const ownerFlow =
  (sandbox: Sandbox): FastifyPluginAsync =>
  async (app) => {
    const { state } = sandbox;
    app.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string' },
      (_request, body, done) => done(null, new URLSearchParams(body.toString())),
    );
    // The URL is a credential, so caches and other sites must not see it.
    app.addHook('onRequest', async (_request, reply) => {
      reply.headers({
        'cache-control': 'no-store',
        'referrer-policy': 'same-origin',
        'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'",
      });
    });

    const send = (reply: FastifyReply, html: Html, status = 200) =>
      reply.code(status).type('text/html; charset=utf-8').send(html.text);

    const brandOf = (session: Session) =>
      sandbox.settings().brands.find(({ id }) => id === session.brand) ?? null;

    const pageOf = (session: Session, message: string | null): Html => {
      const brand = brandOf(session);
      if (session.completedAt !== null || session.finished) return donePage(brand);
      if (brand === null) return brandPage(session.linkToken, sandbox.settings().brands, message);
      if (!session.signedIn) return signInPage(session.linkToken, brand, message);
      return authorisePage(session.linkToken, brand, message);
    };

    app.get<Link>('/pv-onboarding/:link', ({ params }, reply) => {
      const session = state.findSessionByLink(params.link, Date.now());
      const isOver = session === null || (session.expired && session.completedAt === null);
      return isOver ? send(reply, closedPage(), 404) : send(reply, pageOf(session, null));
    });

    /** Adds the POST route of a step. `take` stores the form, or returns an error message for the same page. */
    const onStep = (name: string, take: (session: Session, form: URLSearchParams) => string | null): void => {
      app.post<Link>(`/pv-onboarding/:link/${name}`, ({ params, body }: FastifyRequest<Link>, reply) => {
        const session = state.findSessionByLink(params.link, Date.now());
        if (session === null) return send(reply, closedPage(), 404);
        const missing = isFlowOpen(session)
          ? take(session, body instanceof URLSearchParams ? body : new URLSearchParams())
          : null;
        state.onChange();
        if (missing !== null) return send(reply, pageOf(session, missing), 400);
        return reply.redirect(`/pv-onboarding/${session.linkToken}`, 303);
      });
    };

    onStep('brand', (session, form) => {
      const brand = sandbox.settings().brands.find(({ id }) => id === form.get('brand'));
      if (brand === undefined) return 'Choose the brand of your inverter.';
      session.brand = brand.id;
      return null;
    });
    onStep('back', (session) => {
      session.brand = null;
      session.signedIn = false;
      return null;
    });
    onStep('sign-in', (session, form) => {
      if (!form.get('email') || !form.get('password')) return 'Enter an email address and a password.';
      session.signedIn = session.brand !== null;
      return null;
    });
    onStep('authorise', (session, form) => {
      const brand = brandOf(session);
      if (brand === null || !session.signedIn) return null;
      const allowed = form.getAll('allow');
      const chosen = new Set(
        form.getAll('installation').filter((value) => INSTALLATIONS[Number(value)] !== undefined),
      );
      if (chosen.size === 0) return 'Choose at least one installation.';
      if (!allowed.includes('monitoring') || !allowed.includes('curtailment'))
        return 'Both permissions are needed.';
      completeFlow(session, Date.now(), { afterMs: brand.onlineAfterMs, inverters: chosen.size });
      return null;
    });
  };
