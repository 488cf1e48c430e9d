import { Injectable } from '@nestjs/common';
import { Eta } from 'eta';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CONSENT_PARTS } from '../../platform/env/brand-files.js';
import { Environment } from '../../platform/env/environment.js';
import { ProblemPages, type ProblemPage } from '../../platform/problem/problem-pages.js';
import type { GivenConsent } from '../consents.sql.js';
import { chosenLocale, LOCALES, localeOf, type Locale } from '../../platform/env/locale.rules.js';
import { DECLINE_REASONS, returnUrlFault } from '../invitation.rules.js';
import type { InvitationRow } from '../invitations.store.js';
import { Brands } from '../brands.service.js';
import { accentsOf } from './colour.rules.js';
import { OwnerTexts, readPageFile, type Translate } from './owner-texts.service.js';
import { brandSectionOf, brandStepsOf, durationOf, progressOf } from './owner-sections.js';
import { folderFrom, type OwnerPage } from './owner-page.rules.js';

/** The pages for an unknown link, and for a request that cannot be served. */
export type OtherPage = 'code' | 'wrongCode' | 'unknown' | 'tooMany' | 'elsewhere' | 'trouble';

export interface PageContext {
  readonly token?: string | undefined;
  /** The language of the invitation. Default: that of the browser. */
  readonly locale?: Locale | null | undefined;
  /** The name of the location, from the tenant's metadata. */
  readonly label?: unknown;
  readonly returnUrl?: string | null;
  readonly isUnopened?: boolean;
  /** Whether the installation was online, and no longer is. */
  readonly isDisconnected?: boolean;
  /** A sentence above the text to which the owner agrees, by its key. */
  readonly notice?: 'consent.changed' | 'outage' | 'outage.brand' | undefined;
  /** The brands of which no session can be begun now. */
  readonly failingBrands?: readonly string[] | undefined;
  /** What the owner has agreed to, also if it is withdrawn. */
  readonly consents?: readonly Pick<GivenConsent, 'hash' | 'locale' | 'withdrawnAt'>[];
  /** The host to which the button leads, if a session was ever started. */
  readonly host?: string | undefined;
  /** Whether the installation is later than usual. */
  readonly isLate?: boolean;
  /** The time within which most installations of the awaited brands come online. */
  readonly usualWaitSeconds?: number | undefined;
}

/** What a receipt says about the invitation. */
type Receipted = Pick<InvitationRow, 'locale' | 'gridLocationId' | 'metadata'>;

/** The pages about trouble, whose button tries again. */
const RETRIED: readonly (OwnerPage['kind'] | OtherPage)[] = ['tooMany', 'elsewhere', 'trouble'];
type Visited = Pick<FastifyRequest, 'url' | 'headers'>;

/** The pages whose button is not the next step, and has words of its own. */
const HAS_SECONDARY: readonly (OwnerPage['kind'] | OtherPage)[] = ['waiting', 'declined', 'withdrawn'];

const MAX_LABEL_LENGTH = 120;
/** What a page has not, unless it says so. */
const NOTHING = { steps: [], receipts: [], kept: '' };

/** Returns the query that keeps the chosen language of an address. */
export function langOf(url: string): string {
  const locale = chosenLocale(url);
  return locale === null ? '' : `?lang=${locale}`;
}

/** The names of the languages, each in itself. */
const LANGUAGES: Readonly<Record<Locale, string>> = {
  en: 'English',
  nl: 'Nederlands',
  de: 'Deutsch',
  fr: 'Français',
};

/** Renders the owner's pages: the template, style, script and messages in pages/owner, in the tenant's name and colour. */
@Injectable()
export class OwnerPageView {
  readonly style: string;
  readonly script = readPageFile('page.js');
  private readonly eta = new Eta({ autoEscape: true });
  private readonly template = this.eta.compile(readPageFile('page.eta'));

  constructor(
    private readonly environment: Environment,
    private readonly texts: OwnerTexts,
    private readonly brands: Brands,
    problems: ProblemPages,
  ) {
    const { light, dark } = accentsOf(environment.BRAND_COLOR);
    const accents = `--accent-light: ${light.accent}; --on-accent-light: ${light.text}; --accent-dark: ${dark.accent}; --on-accent-dark: ${dark.text};`;
    this.style = `:root { ${accents} }\n${readPageFile('page.css')}`;
    problems.add('/i', ({ code, status }, request) => {
      const unknown = code === 'not_found' && /^\/i\/(\?|$)/.test(request.url) ? 'code' : 'unknown';
      const kind = code === 'too_many_requests' ? 'tooMany' : status < 500 ? unknown : 'trouble';
      return this.page({ kind }, request);
    });
  }

  send(reply: FastifyReply, page: OwnerPage | { readonly kind: OtherPage }, context: PageContext = {}): void {
    const { headers, body } = this.page(page, reply.request, context);
    void reply.headers(headers).send(body);
  }

  /** Shows what the owner has agreed to, to keep or to print. */
  sendReceipt(
    reply: FastifyReply,
    token: string,
    consents: readonly GivenConsent[],
    { locale: invitedIn, gridLocationId, metadata }: Receipted,
  ): void {
    const locale = this.localeOf(reply.request, invitedIn);
    const text = this.texts.in(locale);
    const at = (time: Date) =>
      new Intl.DateTimeFormat(locale, {
        dateStyle: 'long',
        timeStyle: 'long',
        timeZone: this.environment.TIME_ZONE,
      }).format(time);
    const receipts = consents.map(({ givenAt, withdrawnAt, brand, version, hash, ...consent }) => ({
      locale: consent.locale,
      parts: partsIn(consent.text, this.texts.in(consent.locale)),
      facts: [
        text('receipt.to'),
        ...placeIn(metadata.label, text),
        text('receipt.location', { id: gridLocationId }),
        text('receipt.given', { at: at(givenAt) }),
        ...(withdrawnAt === null ? [] : [text('receipt.withdrawn', { at: at(withdrawnAt) })]),
        ...(brand === null ? [] : [text('receipt.brand', { brand: this.brands.nameOf(brand) })]),
        text('receipt.version', { version }),
        text('receipt.hash', { hash }),
      ],
    }));
    const link = { url: token + langOf(reply.request.url), text: text('receipt.back') };
    const shown = {
      heading: text('receipt.heading'),
      paragraphs: [text('receipt.text')],
      receipts,
      link,
      kept: 'receipt=&',
    };
    const { headers, body } = this.respond(reply.request, locale, shown);
    void reply.headers(headers).send(body);
  }

  /** Returns the language of the page for a request: the chosen one, that of the invitation, or that of the browser. */
  localeOf({ url, headers }: Visited, invitedIn: Locale | null = null): Locale {
    const { DEFAULT_LOCALE } = this.environment;
    return localeOf(chosenLocale(url) ?? invitedIn, headers['accept-language'], DEFAULT_LOCALE);
  }

  private page(
    page: OwnerPage | { readonly kind: OtherPage },
    request: Visited,
    context: PageContext = {},
  ): ProblemPage {
    const locale = this.localeOf(request, context.locale);
    return this.respond(request, locale, this.contentOf(page, context, request, locale));
  }

  /** Returns a page that loads nothing from other origins, is not indexed, and passes its address on to no other page. */
  private respond(request: Visited, locale: Locale, content: object): ProblemPage {
    const { NODE_ENV, BRAND_LOGO_FILE, BRAND_SUPPORT_URL, BRAND_PRIVACY_URL } = this.environment;
    const text = this.texts.in(locale);
    // The response to a form may redirect to the remote service, and browsers apply form-action to that address, too.
    const local = NODE_ENV === 'production' ? '' : ' http://127.0.0.1:* http://localhost:*';
    return {
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': `default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self' https:${local}; base-uri 'none'; frame-ancestors 'none'`,
        'x-robots-tag': 'noindex',
        vary: 'accept-language',
      },
      body: this.eta.render(this.template, {
        ...NOTHING,
        folder: folderFrom(request.url) ?? '',
        locale,
        tenant: this.texts.tenantIn(locale),
        hasLogo: BRAND_LOGO_FILE !== undefined,
        languages: LOCALES.map((each) => ({ locale: each, name: LANGUAGES[each] })),
        language: text('language'),
        privacy: BRAND_PRIVACY_URL && { url: BRAND_PRIVACY_URL, text: text('privacy') },
        support: BRAND_SUPPORT_URL && { url: BRAND_SUPPORT_URL, text: text('support') },
        ...content,
      }),
    };
  }

  private contentOf(
    page: OwnerPage | { readonly kind: OtherPage },
    context: PageContext,
    { url }: Visited,
    locale: Locale,
  ): object {
    const text = this.texts.in(locale);
    const folder = folderFrom(url) ?? '';
    const lang = langOf(url);
    const { host, consents = [] } = context;
    const nameOf = (id: string) => this.brands.nameOf(id);
    const steps = 'steps' in page ? page.steps : [];
    const brand = 'brand' in page ? page.brand : undefined;
    const isOver = ['online', 'expired', 'renewal', 'revoked'].includes(page.kind);
    const consent = this.texts.consentIn(locale);
    const standing = consents.filter((each) => each.withdrawnAt === null);
    const isWithdrawn = consents.length > 0 && standing.length === 0;
    const agreed = standing.filter((each) => each.locale === locale);
    const isAgreed = agreed.some(({ hash }) => hash === consent.hash);
    const hasChanged = brand !== undefined && agreed.length > 0 && !isAgreed;
    const isLate = page.kind === 'waiting' && context.isLate === true;
    const isKept = page.kind === 'wish' && context.notice !== undefined;
    const notice = hasChanged ? 'consent.changed' : isKept ? undefined : context.notice;
    // The owner agrees again to an access that has not ended, or the wish is kept.
    const agreesAgain = page.kind === 'withdrawn' && steps.every(({ kind }) => kind === 'online');
    const staysHere = agreesAgain || notice === 'outage' || notice === 'outage.brand';
    const query = (values: Readonly<Record<string, string>>) =>
      `${lang || '?'}${lang && '&'}${String(new URLSearchParams(values))}`;
    return {
      heading: text(`${isKept ? 'kept' : isLate ? 'late' : page.kind}.heading`),
      paragraphs: [
        ...(isKept
          ? this.keptWish(page.wished, context, text)
          : this.paragraphs(page.kind, context, locale, text)),
        ...(page.kind === 'online' && standing.length > 0 ? [text('online.after')] : []),
        ...(page.kind === 'declined' && page.reason === 'login_elsewhere' ? [text('declined.handOn')] : []),
        ...(isWithdrawn && page.kind !== 'withdrawn' ? [text('declined.withdrawn')] : []),
        ...(isWithdrawn ? [text('withdrawn.access')] : []),
      ],
      progress: progressOf(page.kind, locale, text, context.usualWaitSeconds, isLate),
      steps: brandStepsOf(steps, context.failingBrands ?? [], nameOf, text),
      brand:
        typeof brand === 'string' && brandSectionOf(brand, this.brands.all.get(brand), locale, folder, text),
      notice:
        notice &&
        text(notice, notice === 'outage.brand' && typeof brand === 'string' ? { brand: nameOf(brand) } : {}),
      consent: brand !== undefined && {
        isOpen: page.kind === 'ready' || page.kind === 'withdrawn' || notice === 'consent.changed',
        heading: text('parts.heading'),
        parts: CONSENT_PARTS.slice(0, -1).map((part) => ({
          heading: text(`${part}.heading`),
          text: consent.parts[part],
        })),
        sentence: consent.parts.consent,
      },
      button: brand !== undefined && {
        action: query({ ...(brand !== null && { brand }), text: consent.hash }),
        text: text(...buttonOf(page.kind, brand === null ? null : nameOf(brand))),
        leads: staysHere ? '' : host === undefined ? text('leads') : text('leads.host', { host }),
        after: text('leads.after'),
        busy: text(staysHere ? 'busy.other' : 'busy'),
        isSecondary: HAS_SECONDARY.includes(page.kind),
      },
      decline: 'steps' in page &&
        page.kind !== 'declined' &&
        page.kind !== 'withdrawn' && {
          action: `${folder}${context.token}/decline${lang}`,
          text: text('decline'),
          reasons: DECLINE_REASONS.map((reason) => ({ reason, text: text(`decline.${reason}`) })),
        },
      withdrawal: standing.length > 0 && {
        action: `${folder}${context.token}/withdrawal${lang}`,
        heading: text('withdrawal'),
        paragraphs: [text('withdrawal.text'), text('withdrawn.access')],
        text: text('withdrawal.button'),
      },
      renewal: page.kind === 'expired' && {
        action: `${folder}${context.token}/renewal${lang}`,
        text: text('expired.button'),
      },
      codeForm: (page.kind === 'code' || page.kind === 'wrongCode') && {
        action: `${folder}../i${lang}`,
        label: text('code.label'),
        text: text('code.button'),
        isWrong: page.kind === 'wrongCode',
      },
      // A GET of the same address: it shows the page of the link.
      retry: RETRIED.includes(page.kind) && text('retry'),
      chosen: chosenLocale(url),
      busy: text('busy.other'),
      // The state may change without an action of the owner.
      isLive: ['waiting', 'wish', 'started', 'next'].includes(page.kind),
      // A text that has changed meanwhile needs a click of its own.
      goesOn: page.kind === 'started' && isAgreed,
      isUnopened: context.isUnopened,
      link: isOver && this.leadsTo(context.returnUrl) && { url: context.returnUrl, text: text('return') },
      receipt: consents.length > 0 && { url: query({ receipt: '' }), text: text('receipt.link') },
    };
  }

  /** Returns whether the page may lead to a URL. The configuration may have lost its origin after the invitation was created. */
  private leadsTo(returnUrl: string | null | undefined): boolean {
    const { INVITATION_RETURN_ORIGINS = [], NODE_ENV } = this.environment;
    const isProduction = NODE_ENV === 'production';
    return !!returnUrl && !returnUrlFault(new URL(returnUrl), INVITATION_RETURN_ORIGINS, isProduction);
  }

  /** Returns what the owner is told whose start waits for the end of an outage. */
  private keptWish(brand: string | null, { notice }: PageContext, text: Translate): string[] {
    const isOfBrand = notice === 'outage.brand' && brand !== null;
    const isReminded = this.environment.REMINDER_SCHEDULE_HOURS.some((hours) => hours > 0);
    return [
      isOfBrand ? text('kept.text', { brand: this.brands.nameOf(brand) }) : text('wish.text'),
      ...(isReminded ? [text('kept.reminder')] : []),
    ];
  }

  private paragraphs(
    kind: OwnerPage['kind'] | OtherPage,
    { label, usualWaitSeconds, isLate, isDisconnected }: PageContext,
    locale: Locale,
    text: Translate,
  ): string[] {
    if (kind === 'ready' || (kind === 'next' && isDisconnected)) {
      const invited = text(isDisconnected ? 'disconnected.text' : 'ready.invited');
      return [invited, ...placeIn(label, text), text('ready.duration')];
    }
    if (kind !== 'waiting') return [text(`${kind}.text`)];
    if (isLate) return [text('late.text'), text('waiting.told')];
    if (!usualWaitSeconds) return [text('waiting.text'), text('waiting.told')];
    const usually = text('waiting.usually', { duration: durationOf(usualWaitSeconds, locale) });
    return [text('waiting.text'), usually, text('waiting.told')];
  }
}

/** Returns the name of the location, from the tenant's metadata, in a sentence, if it is known. */
function placeIn(label: unknown, text: Translate): string[] {
  const place = typeof label === 'string' ? label.slice(0, MAX_LABEL_LENGTH) : '';
  return place === '' ? [] : [text('place', { label: place })];
}

/** Returns the parts of a text to which an owner agreed, with their headings if the text has as many parts as ours. */
function partsIn(consent: string, text: Translate): { heading: string | null; text: string }[] {
  const paragraphs = consent.split('\n\n');
  return paragraphs.map((paragraph, index) => {
    const part = paragraphs.length === CONSENT_PARTS.length ? CONSENT_PARTS[index] : undefined;
    const heading = part === undefined || part === 'consent' ? null : text(`${part}.heading`);
    return { heading, text: paragraph };
  });
}

function buttonOf(kind: OwnerPage['kind'] | OtherPage, brand: string | null): Parameters<Translate> {
  if (HAS_SECONDARY.includes(kind)) return [`${kind}.button`, {}];
  if (kind === 'rejected') return ['retry', {}];
  const key = kind === 'started' ? 'started.button' : 'ready.button';
  return brand === null ? [key, {}] : [`${key}OfBrand`, { brand }];
}
