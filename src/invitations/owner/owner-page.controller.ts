import { Body, Controller, Get, Param, Post, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { RateLimit } from '../../access/rate-limit.js';
import { clientNetwork } from '../../access/request-hooks.service.js';
import { ReadHabits } from '../../brands/habits.service.js';
import type { Picture } from '../../platform/env/brand-files.js';
import { Environment } from '../../platform/env/environment.js';
import { ownOriginsOf } from '../../platform/http/origins.rules.js';
import { Public } from '../../platform/http/public.decorator.js';
import { invalidRequest } from '../../platform/http/validation.js';
import { found, Problem } from '../../platform/problem/problem.js';
import { DECLINE_REASONS } from '../invitation.rules.js';
import { InvitationsStore, type InvitationRow, type Outages } from '../invitations.store.js';
import {
  declineReasonOf,
  folderFrom,
  isFromOwnPage,
  planOwnerPage,
  tokensIn,
  usualWaitOf,
  type OwnerPage,
} from './owner-page.rules.js';
import { readCode } from './link-codes.rules.js';
import { GUESSES, LinkCodesStore } from './link-codes.store.js';
import { Brands } from '../brands.service.js';
import { OwnerTexts } from './owner-texts.service.js';
import { langOf, OwnerPageView, type OtherPage, type PageContext } from './owner-page.view.js';
import { OwnerRequestsStore } from './owner-requests.store.js';
import { OwnerStarts } from './owner-starts.service.js';
import { PageQuery } from '../../platform/http/query.decorator.js';

/** The most unknown links a minute, per client network. A person mistypes a few. */
const UNKNOWN_LINKS = { amount: 30, periodMs: 60_000 };
const STATUS_OF = { unknown: 404, revoked: 410, expired: 410, renewal: 410, erased: 410 } as const;

/** The pages whose button, or pending wish, needs a new start, unless all is online. */
const NEEDS_START: readonly OwnerPage['kind'][] = [
  'ready',
  'next',
  'rejected',
  'declined',
  'withdrawn',
  'wish',
];
type Notice = NonNullable<PageContext['notice']>;

/** Links have 43 characters, and what mail clients and campaigns add. */
const MAX_URL_LENGTH = 2_000;

type PathParts = Readonly<Partial<Record<'token' | '*', string>>>;

interface Visit {
  readonly token: string;
  readonly invitation: InvitationRow;
  readonly page: OwnerPage;
  readonly notice?: Notice | undefined;
  /** The brands of which no session can be begun now. */
  readonly failingBrands: readonly string[];
}

/** Serves the page of an invitation to the owner. It needs no key: the token in its address is the owner's credential. */
@ApiExcludeController()
@Controller('i')
export class OwnerPageController {
  private readonly unknown = new RateLimit('unknown-link', UNKNOWN_LINKS);

  constructor(
    private readonly store: InvitationsStore,
    private readonly starts: OwnerStarts,
    private readonly codes: LinkCodesStore,
    private readonly requests: OwnerRequestsStore,
    private readonly view: OwnerPageView,
    private readonly texts: OwnerTexts,
    private readonly brands: Brands,
    private readonly habits: ReadHabits,
    private readonly environment: Environment,
  ) {}

  @Get('page.css')
  @Public()
  style(@Res() reply: FastifyReply): void {
    void reply.headers(CACHED).type('text/css; charset=utf-8').send(this.view.style);
  }

  @Get('page.js')
  @Public()
  script(@Res() reply: FastifyReply): void {
    void reply.headers(CACHED).type('text/javascript; charset=utf-8').send(this.view.script);
  }

  @Get('logo')
  @Public()
  image(@Res() reply: FastifyReply): void {
    sendPicture(reply, found(this.brands.logo, 'logo'));
  }

  /** Shows the page on which an owner enters a code. */
  @Get()
  @Public()
  askForCode(@Res() reply: FastifyReply): void {
    this.send(reply, { kind: 'code' });
  }

  /** Redirects to the page of the link that has this code. */
  @Post()
  @Public()
  async enterCode(
    @Body() form: Readonly<Record<string, unknown>> | undefined,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    if (!this.isOwn(request)) return this.send(reply.status(403), { kind: 'elsewhere' });
    const network = clientNetwork(request.ip, request.socket.remoteAddress ?? '');
    const entered = await this.codes.enter(readCode(form?.code), network);
    if (entered.kind === 'refused')
      throw new Problem('too_many_requests', 'Too many wrong codes', {
        retryAfterSeconds: GUESSES.periodMs / GUESSES.amount / 1_000,
      });
    if (entered.kind === 'unknown') return this.send(reply.status(422), { kind: 'wrongCode' });
    const folder = folderFrom(request.url) ?? '';
    this.goBack(reply, folder + entered.token);
  }

  @Get('brand-picture')
  @Public()
  brandPicture(@PageQuery() { brand = '' }: Readonly<Record<string, string>>, @Res() reply: FastifyReply) {
    sendPicture(reply, found(this.brands.all.get(brand)?.picture, 'picture of this brand'));
  }

  /** Shows the page and changes nothing, because mail scanners follow links, too, and their browsers look like those of people. */
  @Get([':token', '*'])
  @Public()
  async show(
    @Param() { token: part, '*': rest }: PathParts,
    @PageQuery() { receipt }: Readonly<Record<string, string>>,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ) {
    const text = part ?? rest ?? '';
    if (request.url.length > MAX_URL_LENGTH) return this.view.send(reply.status(414), { kind: 'unknown' });
    const visit = await this.find(text, request);
    if (visit === null) return this.send(reply, { kind: 'unknown' });
    const folder = folderFrom(request.url);
    // Redirects from a path with several parts. The new address is relative, because a proxy may have removed a prefix.
    if (folder)
      return void reply
        .status(308)
        .header('location', folder + visit.token + langOf(request.url))
        .send();
    const consents = await this.store.findConsents(visit.invitation.id);
    if (receipt !== undefined && consents.length > 0)
      return this.view.sendReceipt(reply, visit.token, consents, visit.invitation);
    const host = await this.starts.remoteHost();
    this.send(reply, visit.page, visit, undefined, { consents, host });
  }

  /**
   * Starts the session of a brand, or uses the open one, and redirects to the remote service. With `opened`, only records the visit of a
   * person.
   */
  @Post(':token')
  @Public()
  async begin(
    @Param('token') link: string,
    @PageQuery() { brand, opened, text: hash }: Readonly<Record<string, string>>,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const visit = await this.visitOf(link, request, reply);
    if (visit === null) return;
    const { token, invitation, page } = visit;
    if (opened !== undefined) {
      await this.store.open(invitation.id);
      return void reply.status(204).send();
    }
    const wanted = wantedBrand(page, brand);
    if (wanted === undefined) return this.goBack(reply, token);
    const { id, gridLocationId, metadata } = invitation;
    const locale = this.view.localeOf(request, invitation.locale);
    const consent = hash === undefined ? this.texts.consentIn(locale) : this.texts.consentOf(hash);
    if (consent === undefined) {
      const host = await this.starts.remoteHost();
      return this.send(reply, page, visit, 409, { notice: 'consent.changed', host });
    }
    const begun = await this.starts.begin({ id, gridLocationId, brand: wanted, metadata }, consent);
    // The tenant may have revoked the invitation or erased the user, or the owner may have declined, during the start.
    const { state = 'revoked' } = (await this.store.find(id)) ?? {};
    if (state === 'revoked' || state === 'declined') return this.goBack(reply, token);
    if (begun.kind === 'rejected' && 'steps' in page)
      return this.send(reply.status(422), { ...page, kind: 'rejected', brand: wanted }, visit);
    if (begun.kind === 'started' && begun.startUrl !== null)
      return void reply.status(303).header('location', new URL(begun.startUrl).href).send();
    return this.goBack(reply, token);
  }

  /** Records that the owner does not want this. A later click takes it back. */
  @Post(':token/decline')
  @Public()
  async decline(
    @Param('token') text: string,
    @PageQuery() query: Readonly<Record<string, unknown>>,
    @Body() form: Readonly<Record<string, unknown>> | undefined,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const visit = await this.visitOf(text, request, reply);
    if (visit === null) return;
    const reason = declineReasonOf(form?.reason ?? query.reason);
    if (reason === undefined)
      throw invalidRequest([{ field: 'reason', message: `must be one of ${DECLINE_REASONS.join(', ')}` }]);
    await this.requests.decline(visit.invitation.id, reason);
    return this.goBack(reply, `../${visit.token}`);
  }

  /** Records that the owner withdraws the consent. A later click gives it again. */
  @Post(':token/withdrawal')
  @Public()
  async withdraw(@Param('token') text: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply) {
    const visit = await this.visitOf(text, request, reply);
    if (visit === null) return;
    await this.requests.withdraw(visit.invitation.id, null);
    return this.goBack(reply, `../${visit.token}`);
  }

  /** Records that a person with a link that no longer works wants a new one. The new link goes to the tenant alone. */
  @Post(':token/renewal')
  @Public()
  async renew(@Param('token') text: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply) {
    const visit = await this.visitOf(text, request, reply);
    if (visit === null) return;
    const { INVITATION_RENEWAL, INVITATION_TTL_DAYS } = this.environment;
    await this.requests.requestRenewal(visit.invitation.id, INVITATION_RENEWAL, INVITATION_TTL_DAYS);
    const renewed = (await this.find(visit.token, request)) ?? visit;
    // The forms of a link that works again lead to its own address.
    if ('steps' in renewed.page) return this.goBack(reply, `../${renewed.token}`);
    this.send(reply, renewed.page, renewed, renewed.page.kind === 'renewal' ? 200 : undefined);
  }

  /** Returns the visit of a person who has pressed a button, or sends the page that says why nothing is done, and returns null. */
  private async visitOf(text: string, request: FastifyRequest, reply: FastifyReply): Promise<Visit | null> {
    const refuse = (kind: OtherPage, status: number): null => {
      this.view.send(reply.status(status), { kind });
      return null;
    };
    if (request.url.length > MAX_URL_LENGTH) return refuse('unknown', 414);
    if (!this.isOwn(request)) return refuse('elsewhere', 403);
    return (await this.find(text, request)) ?? refuse('unknown', 404);
  }

  private isOwn(request: FastifyRequest): boolean {
    return isFromOwnPage(request.headers, ownOriginsOf(request, this.environment.PUBLIC_URL));
  }

  private goBack(reply: FastifyReply, token: string): void {
    void reply
      .status(303)
      .header('location', token + langOf(reply.request.url))
      .send();
  }

  /**
   * Returns the invitation and the page of a link, or null if the link is unknown. Throws Problem too_many_requests after too many unknown
   * links.
   */
  private async find(text: string, request: FastifyRequest): Promise<Visit | null> {
    const network = clientNetwork(request.ip, request.socket.remoteAddress ?? '');
    // Does not limit known tokens: finding one costs a look-up in an index, and must not depend on the attempts of others from the same
    // address.
    for (const token of tokensIn(text)) {
      const invitation = await this.store.findByToken(token);
      if (invitation === null) continue;
      const [steps, outages] = await Promise.all([
        this.store.findSteps(invitation.id),
        this.store.findOutages(),
      ]);
      const page = planOwnerPage(invitation, steps, invitation.now, outages.failingBrands);
      const notice = steps.every(({ kind }) => kind === 'online') ? undefined : outageOf(page, outages);
      return { token, invitation, page, notice, failingBrands: outages.failingBrands };
    }
    const { waitMs } = this.unknown.take(network, performance.now());
    const retryAfterSeconds = waitMs / 1_000;
    if (waitMs > 0) throw new Problem('too_many_requests', 'Too many unknown links', { retryAfterSeconds });
    return null;
  }

  private send(
    reply: FastifyReply,
    page: OwnerPage | { readonly kind: OtherPage },
    { token, invitation, notice, failingBrands }: Partial<Visit> = {},
    status?: number,
    extra: Pick<PageContext, 'notice' | 'consents' | 'host'> = {},
  ): void {
    const { kind } = page;
    const code = status ?? (kind in STATUS_OF ? STATUS_OF[kind as keyof typeof STATUS_OF] : undefined);
    if (code !== undefined) void reply.status(code);
    const usualWait = (brand: string | null) => this.habits.usualWait(brand)?.p95Seconds;
    this.view.send(reply, page, {
      token,
      notice,
      failingBrands,
      locale: invitation?.locale,
      label: invitation?.metadata.label,
      returnUrl: invitation?.returnUrl,
      isUnopened: invitation?.openedAt === null,
      isDisconnected: (invitation?.disconnectedAt ?? null) !== null,
      ...extra,
      isLate: invitation?.stalled?.cause === 'completed_not_online',
      usualWaitSeconds: 'steps' in page ? usualWaitOf(page.steps, usualWait) : undefined,
    });
  }
}

/** Returns what the owner is told if what the button leads to, or the owner waits for, cannot begin now. */
function outageOf(page: OwnerPage, { isServed, failingBrands }: Outages): Notice | undefined {
  if (NEEDS_START.includes(page.kind) && !isServed) return 'outage';
  const wanted = page.kind === 'wish' ? page.wished : 'brand' in page ? page.brand : null;
  return failingBrands.some((brand) => brand === wanted) ? 'outage.brand' : undefined;
}

const CACHED = { 'cache-control': 'public, max-age=300' };

function sendPicture(reply: FastifyReply, { type, content }: Picture): void {
  void reply.headers(CACHED).type(type).send(content);
}

/** Returns the given brand if the page has a step for it, else the brand of the page's button. Returns undefined if nothing can begin. */
function wantedBrand(page: OwnerPage, given: string | undefined): string | null | undefined {
  if (!('steps' in page)) return undefined;
  const step = page.steps.find(({ brand }) => brand === (given ?? null));
  if (step === undefined) return 'brand' in page ? page.brand : undefined;
  return step.kind === 'online' && page.kind !== 'withdrawn' ? undefined : step.brand;
}
