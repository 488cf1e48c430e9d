import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import type { Html } from './markup.js';
import {
  authorisePage,
  brandPage,
  closedPage,
  donePage,
  INSTALLATIONS,
  signInPage,
  type Problem,
} from './owner-flow.pages.js';
import { languageOf, type Language } from './owner-flow.texts.js';
import type { Sandbox } from '../sandbox.js';
import { completeFlow, isFlowOpen, type Session } from '../session.js';

type Link = { Params: { link: string } };

/**
 * Serves the owner's web flow at `startUrl`: choose a brand, sign in, allow monitoring and curtailment. The session stores the owner's
 * progress, so the link opens the current step, in the first language of the browser that the flow has.
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
        'content-security-policy':
          "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; form-action 'self'",
      });
    });

    const send = (reply: FastifyReply, html: Html, status = 200) =>
      reply.code(status).type('text/html; charset=utf-8').send(html.text);

    const brandOf = (session: Session) =>
      sandbox.settings().brands.find(({ id }) => id === session.brand) ?? null;

    const pageOf = (language: Language, session: Session, problem: Problem | null): Html => {
      const { linkToken } = session;
      const brand = brandOf(session);
      if (session.completedAt !== null || session.finished) return donePage(language);
      if (brand === null) return brandPage(language, linkToken, sandbox.settings().brands, problem);
      if (!session.signedIn) return signInPage(language, linkToken, brand, problem);
      return authorisePage(language, linkToken, brand, problem);
    };

    app.get<Link>('/pv-onboarding/:link', ({ params, headers }, reply) => {
      const language = languageOf(headers['accept-language']);
      const session = state.findSessionByLink(params.link, Date.now());
      const isOver = session === null || (session.expired && session.completedAt === null);
      return isOver ? send(reply, closedPage(language), 404) : send(reply, pageOf(language, session, null));
    });

    /** Adds the POST route of a step. `take` stores the form, or returns its problem for the same page. */
    const onStep = (
      name: string,
      take: (session: Session, form: URLSearchParams) => Problem | null,
    ): void => {
      app.post<Link>(
        `/pv-onboarding/:link/${name}`,
        ({ params, headers, body }: FastifyRequest<Link>, reply) => {
          const language = languageOf(headers['accept-language']);
          const session = state.findSessionByLink(params.link, Date.now());
          if (session === null) return send(reply, closedPage(language), 404);
          const problem = isFlowOpen(session)
            ? take(session, body instanceof URLSearchParams ? body : new URLSearchParams())
            : null;
          state.onChange();
          if (problem !== null) return send(reply, pageOf(language, session, problem), 400);
          return reply.redirect(`/pv-onboarding/${session.linkToken}`, 303);
        },
      );
    };

    onStep('brand', (session, form) => {
      const brand = sandbox.settings().brands.find(({ id }) => id === form.get('brand'));
      if (brand === undefined) return 'needsBrand';
      session.brand = brand.id;
      return null;
    });
    onStep('back', (session) => {
      session.brand = null;
      session.signedIn = false;
      return null;
    });
    onStep('sign-in', (session, form) => {
      if (!form.get('email') || !form.get('password')) return 'needsSignIn';
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
      if (chosen.size === 0) return 'needsInstallation';
      if (!allowed.includes('monitoring') || !allowed.includes('curtailment')) return 'needsBoth';
      completeFlow(session, Date.now(), { afterMs: brand.onlineAfterMs, inverters: chosen.size });
      return null;
    });
  };
