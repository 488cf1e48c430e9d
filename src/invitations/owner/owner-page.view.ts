import { readFileSync } from 'node:fs';
import { Injectable } from '@nestjs/common';
import { Eta } from 'eta';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Environment } from '../../platform/env/environment.js';
import { ProblemPages, type ProblemPage } from '../../platform/problem/problem-pages.js';
import { DECLINE_REASONS, LOCALES, localeOf, type Locale } from '../invitation.rules.js';
import { accentsOf } from './colour.rules.js';
import { folderFrom, inUnits, type OwnerPage, type Step } from './owner-page.rules.js';

const FOLDER = new URL('../../../pages/owner/', import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, FOLDER), 'utf8');

type Messages = Readonly<Record<string, string>>;

/** The pages for an unknown link, and for a request that cannot be served. */
export type OtherPage = 'unknown' | 'tooMany' | 'elsewhere' | 'trouble';

interface PageContext {
  readonly token?: string | undefined;
  /** The language of the invitation. Default: that of the browser. */
  readonly locale?: Locale | null | undefined;
  /** The name of the location, from the tenant's metadata. */
  readonly label?: unknown;
  readonly returnUrl?: string | null;
  readonly isUnopened?: boolean;
  /** The time within which most installations of the awaited brands come online. */
  readonly usualWaitSeconds?: number | undefined;
}

/** The pages about trouble, whose button tries again. */
const RETRIED: readonly (OwnerPage['kind'] | OtherPage)[] = ['tooMany', 'elsewhere', 'trouble'];
const MAX_LABEL_LENGTH = 120;

/** Renders the owner's pages: the template, style, script and messages in pages/owner, in the tenant's name and colour. */
@Injectable()
export class OwnerPageView {
  readonly style: string;
  readonly script = read('page.js');
  private readonly eta = new Eta({ autoEscape: true });
  private readonly template = this.eta.compile(read('page.eta'));
  private readonly messages = new Map<Locale, Messages>(
    LOCALES.map((locale) => [locale, JSON.parse(read(`messages/${locale}.json`)) as Messages]),
  );

  constructor(
    private readonly environment: Environment,
    problems: ProblemPages,
  ) {
    const { light, dark } = accentsOf(environment.BRAND_COLOR);
    const accents = `--accent-light: ${light.accent}; --on-accent-light: ${light.text}; --accent-dark: ${dark.accent}; --on-accent-dark: ${dark.text};`;
    this.style = `:root { ${accents} }\n${read('page.css')}`;
    problems.add('/i', ({ code, status }, request) => {
      const kind = code === 'too_many_requests' ? 'tooMany' : status < 500 ? 'unknown' : 'trouble';
      return this.page({ kind }, request);
    });
  }

  send(reply: FastifyReply, page: OwnerPage | { readonly kind: OtherPage }, context: PageContext = {}): void {
    const { headers, body } = this.page(page, reply.request, context);
    void reply.headers(headers).send(body);
  }

  /** Returns a page that loads nothing from other origins, is not indexed, and passes its address on to no other page. */
  private page(
    page: OwnerPage | { readonly kind: OtherPage },
    { url, headers }: Pick<FastifyRequest, 'url' | 'headers'>,
    context: PageContext = {},
  ): ProblemPage {
    const { NODE_ENV, DEFAULT_LOCALE } = this.environment;
    const locale = localeOf(context.locale ?? null, headers['accept-language'], DEFAULT_LOCALE);
    // The response to a form may redirect to the remote service, and browsers apply form-action to that address, too.
    const local = NODE_ENV === 'production' ? '' : ' http://127.0.0.1:* http://localhost:*';
    return {
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': `default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self' https:${local}; base-uri 'none'; frame-ancestors 'none'`,
        'x-robots-tag': 'noindex',
        vary: 'accept-language',
      },
      body: this.render(page, context, locale, folderFrom(url.split('?', 1)[0]!) ?? ''),
    };
  }

  private render(
    page: OwnerPage | { readonly kind: OtherPage },
    context: PageContext,
    locale: Locale,
    folder: string,
  ): string {
    const { BRAND_NAME, BRAND_LOGO_FILE, BRAND_SUPPORT_URL } = this.environment;
    const messages = this.messages.get(locale)!;
    const tenant = BRAND_NAME ?? messages.tenant!;
    // If the tenant has no name, uses a sentence of its own (`….unnamed`): words in the place of a name would need an article or a case.
    const patternOf = (key: string): string =>
      (BRAND_NAME === undefined ? messages[`${key}.unnamed`] : undefined) ?? messages[key]!;
    const text = (key: string, values: Messages = {}): string =>
      patternOf(key).replace(/\{(\w+)\}/g, (_, name: string) => ({ tenant, ...values })[name]!);
    const steps = 'steps' in page ? page.steps : [];
    const brand = 'brand' in page ? page.brand : undefined;
    const isOver = ['online', 'expired', 'renewal', 'revoked'].includes(page.kind);
    return this.eta.render(this.template, {
      folder,
      locale,
      tenant,
      hasLogo: BRAND_LOGO_FILE !== undefined,
      heading: text(`${page.kind}.heading`),
      paragraphs: [
        ...this.paragraphs(page.kind, context, locale, text),
        ...(page.kind === 'declined' && page.reason === 'login_elsewhere' ? [text('declined.handOn')] : []),
      ],
      steps: steps.map((step: Step) => ({ ...step, text: text(`step.${step.kind}`) })),
      button: brand !== undefined && {
        action: brand === null ? '?' : `?brand=${encodeURIComponent(brand)}`,
        text: text(...buttonOf(page.kind, brand)),
        isSecondary: page.kind === 'waiting' || page.kind === 'declined',
      },
      decline: 'steps' in page &&
        page.kind !== 'declined' && {
          action: `${folder}${context.token}/decline`,
          text: text('decline'),
          reasons: DECLINE_REASONS.map((reason) => ({ reason, text: text(`decline.${reason}`) })),
        },
      renewal: page.kind === 'expired' && {
        action: `${folder}${context.token}/renewal`,
        text: text('expired.button'),
      },
      // A GET of the same address: it shows the page of the link.
      retry: RETRIED.includes(page.kind) && text('retry'),
      // The state may change without an action of the owner.
      isLive: ['waiting', 'wish', 'started', 'next'].includes(page.kind),
      goesOn: page.kind === 'started',
      isUnopened: context.isUnopened,
      link: isOver && context.returnUrl && { url: context.returnUrl, text: text('return') },
      support: BRAND_SUPPORT_URL && { url: BRAND_SUPPORT_URL, text: text('support') },
    });
  }

  private paragraphs(
    kind: OwnerPage['kind'] | OtherPage,
    { label, usualWaitSeconds }: PageContext,
    locale: Locale,
    text: (key: string, values?: Messages) => string,
  ): string[] {
    if (kind === 'ready') {
      const place = typeof label === 'string' ? label.slice(0, MAX_LABEL_LENGTH) : '';
      const where = place === '' ? [] : [text('place', { label: place })];
      return [text('ready.invited'), ...where, text('ready.what'), text('ready.duration')];
    }
    if (kind !== 'waiting' || !usualWaitSeconds) return [text(`${kind}.text`)];
    const duration = durationOf(usualWaitSeconds, locale);
    return [text('waiting.text'), text('waiting.usually', { duration })];
  }
}

function durationOf(seconds: number, locale: Locale): string {
  const { amount, unit } = inUnits(seconds);
  return new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }).format(amount);
}

function buttonOf(
  kind: OwnerPage['kind'] | OtherPage,
  brand: string | null,
): [key: string, values: Messages] {
  if (kind === 'waiting' || kind === 'declined') return [`${kind}.button`, {}];
  const key = kind === 'started' ? 'started.button' : 'ready.button';
  return brand === null ? [key, {}] : [`${key}OfBrand`, { brand }];
}
