import { Injectable, Logger } from '@nestjs/common';
import { StartSessionService, UnsentStart } from '../../onboarding/start/start-session.service.js';
import { SessionViewsStore } from '../../onboarding/store/session-views.store.js';
import { within } from '../../platform/async/within.js';
import { Environment } from '../../platform/env/environment.js';
import { errorText } from '../../platform/redaction/error-text.js';
import { Problem } from '../../platform/problem/problem.js';
import { InvitationsStore, type ClaimedWish } from '../invitations.store.js';
import type { ConsentText } from './owner-texts.service.js';

/** How long an owner waits for the response to a click. The start then continues, and the page says so. */
const PATIENCE_MS = 8_000;
/** The part of `retryMs` beyond the longest start. */
const RETRY_MS = 15_000;

/** The result of an owner's click. */
type Begun =
  | { readonly kind: 'started'; readonly startUrl: string | null }
  /** `waiting`: the wish is recorded and will be tried again. `over`: the invitation is over. */
  | { readonly kind: 'waiting' | 'rejected' | 'over' };

/** Starts the sessions that owners wish for. The wish is committed before the start, so that a lost process loses no wish. */
@Injectable()
export class OwnerStarts {
  private readonly logger = new Logger(OwnerStarts.name);
  private host: string | undefined;
  /** The wait before any process tries a wish again. It is longer than the longest start, so that no two processes begin the same start. */
  readonly retryMs = RETRY_MS + 2 * this.environment.SCS_TIMEOUT_MS;

  constructor(
    private readonly store: InvitationsStore,
    private readonly sessions: StartSessionService,
    private readonly views: SessionViewsStore,
    private readonly environment: Environment,
  ) {}

  /** Returns the host of the remote service's pages for owners, or undefined if no session was started lately. */
  async remoteHost(): Promise<string | undefined> {
    if (this.host === undefined) {
      const startUrl = await this.views.findNewestStartUrl();
      if (startUrl !== null && URL.canParse(startUrl)) this.host = new URL(startUrl).host;
    }
    return this.host;
  }

  /** Records the owner's consent, and starts a session of the brand, or returns the one that is open or online. If all its inverters are missing, starts another. */
  async begin(wish: ClaimedWish, consent: ConsentText): Promise<Begun> {
    if (!(await this.store.wish(wish.id, wish.brand, this.retryMs, consent))) return { kind: 'over' };
    return within(PATIENCE_MS, this.fulfil(wish, false), () => ({ kind: 'waiting' }) as const);
  }

  /** Tries to fulfil a recorded wish. Never throws. `hasWaited`: whether it is tried again. */
  async fulfil(wish: ClaimedWish, hasWaited: boolean): Promise<Begun> {
    const { id, gridLocationId, brand, metadata } = wish;
    try {
      const { failingBrands } = await this.store.findOutages();
      if (brand !== null && failingBrands.includes(brand)) return { kind: 'waiting' };
      const { session } = await this.sessions.start({ gridLocationId, brand, metadata, reuse: 'connected' });
      await this.store.fulfil(wish, hasWaited);
      const startUrl = this.views.findStartUrl(session);
      if (startUrl !== null) this.host = new URL(startUrl).host;
      return { kind: 'started', startUrl };
    } catch (error) {
      if (error instanceof Problem && (error.code === 'remote_rejected' || error.code === 'not_found')) {
        await this.store.dropWish(wish).catch(() => {});
        return { kind: 'rejected' };
      }
      if (hasWaited && error instanceof UnsentStart)
        await this.store.retryWish(wish, this.retryMs).catch(() => {});
      if (!(error instanceof Problem))
        this.logger.warn({ message: `a wish could not be fulfilled: ${errorText(error)}`, invitationId: id });
      return { kind: 'waiting' };
    }
  }
}
