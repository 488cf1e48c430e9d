import { Injectable } from '@nestjs/common';
import { InvitationsStore } from '../../invitations/invitations.store.js';
import { BackgroundTasks, task } from '../../platform/tasks/background-tasks.js';
import { WakeUp } from '../../platform/async/wake-up.js';
import { Listener } from '../../platform/database/connection/listen.js';
import { Database } from '../../platform/database/database.js';
import type { Lease } from '../../platform/database/lease.js';
import { LeasedWork } from '../../platform/database/leased-work.js';
import { unlessRefused } from '../../platform/database/refused-rows.js';
import { Environment } from '../../platform/env/environment.js';
import { RateMeter } from '../../platform/rate/rate-meter.js';
import { stopsWithin } from '../../platform/shutdown/limits.js';
import { RegistrationSender } from '../../users/registration/send-registrations.service.js';
import { CampaignAdoption } from '../adoption/adoption.service.js';
import { IntakeStore } from '../intake/intake.store.js';
import { CAMPAIGN_LEASES, CAMPAIGNS_CHANNEL, FIND_DECIDED, FIND_DUE } from './drain.sql.js';
import { DrainStore, type UninvitedRow } from './drain.store.js';

const STOP_WITHIN_MS = stopsWithin(1_000);
const WORK = {
  /** A renewal may take 4 s to fail; see Deliveries. */
  leaseMs: 30_000,
  backoff: { firstMs: 500, mostMs: 5_000 },
  failure: 'a campaign is interrupted',
  idField: 'campaignId',
};
/**
 * The pause between two steps. It is short while rows get results, so that new registrations are ready before all others have been sent.
 */
const PAUSE = { firstMs: 100, mostMs: 1_000 };
/** The wait of a paused or cancelled campaign that has nothing to settle. A resume makes the campaign due at once. */
const STOPPED_MS = 5_000;
const RATE_OVER_MS = 5_000;
/** The wait of a campaign that has only rows left that PostgreSQL refuses to change. */
const REFUSED_MS = 60_000;
/** The most invitations that are created at the same time. */
const INVITE_AT_ONCE = 4;

/** Drains campaigns: makes registrations of their rows, and gives the rows the results. The RegistrationSender sends the registrations. */
@Injectable()
export class CampaignDrain extends BackgroundTasks {
  private readonly notified = new WakeUp();
  protected readonly tasks = [
    task({
      name: 'campaigns.drain',
      everyMs: 1_000,
      due: FIND_DUE,
      wakeUp: this.notified,
      run: (stop) => this.startDue(stop),
    }),
    task({
      name: 'campaigns.settle_decided',
      everyMs: 5_000,
      due: FIND_DECIDED,
      run: () => this.settleDecided(),
    }),
    task({
      name: 'campaigns.cancel_forgotten',
      everyMs: 3_600_000,
      once: 'deployment',
      run: () => this.cancelForgotten(),
    }),
    task({
      name: 'campaigns.delete_dead_uploads',
      everyMs: 60_000,
      once: 'deployment',
      run: () => this.intake.deleteDead(),
    }),
  ];
  protected override readonly work = new LeasedWork(this.database, CAMPAIGN_LEASES, WORK, this.logger);

  constructor(
    private readonly database: Database,
    private readonly store: DrainStore,
    private readonly intake: IntakeStore,
    private readonly adoption: CampaignAdoption,
    private readonly sender: RegistrationSender,
    private readonly invitations: InvitationsStore,
    private readonly environment: Environment,
    private readonly listener: Listener,
  ) {
    super('campaigns could not be kept up to date', environment.ROLE !== 'api', STOP_WITHIN_MS);
  }

  override onApplicationBootstrap(): void {
    super.onApplicationBootstrap();
    if (this.environment.ROLE !== 'api') this.listener.on(CAMPAIGNS_CHANNEL, () => this.notified.signal());
  }

  private async startDue(stop: AbortSignal): Promise<void> {
    for (const id of await this.store.findDue()) this.work.begin(id, stop, (lease) => this.drain(id, lease));
  }

  /** Drains a campaign until it ends, waits for a person, or the lease is lost. Returns the ms until it is due again. */
  private async drain(id: string, { token, signal }: Lease): Promise<number> {
    const meter = new RateMeter(RATE_OVER_MS);
    const sleep = new WakeUp();
    /** The lines to adopt whose rows PostgreSQL refuses to change. They are tried again under the next lease. */
    const refused = new Set<number>();
    let pauseMs = PAUSE.firstMs;
    for (let step = 1; !signal.aborted; step++) {
      const advanced = await this.store.advance(id, token, meter.perSecond || null);
      if (advanced === null) break;
      const { status, invites, adopts, taken, isDone } = advanced;
      if (taken > 0) this.sender.wakeUp.signal();
      const adopted =
        adopts && status === 'running' ? await this.adoption.adoptNext(id, token, signal, refused) : [];
      const settled = [...advanced.settled, ...adopted];
      meter.add(settled.length);
      // The first step invites the owners of all settled rows, since a worker may have died before it invited them.
      const areInvited =
        !invites ||
        (step === 1 || isDone
          ? await this.inviteAll(id, signal)
          : await this.invite(id, await this.store.findUninvitedOf(id, settled)));
      if (isDone && areInvited && !signal.aborted && (await this.store.finish(id, token))) break;
      const isQuiet = settled.length + taken === 0;
      if (isQuiet && pauseMs === PAUSE.mostMs) {
        if (refused.size > 0 || (isDone && !areInvited)) return REFUSED_MS;
        if (status !== 'running') return STOPPED_MS;
      }
      pauseMs = isQuiet ? Math.min(2 * pauseMs, PAUSE.mostMs) : PAUSE.firstMs;
      await sleep.wait(signal, pauseMs);
    }
    return 0;
  }

  private async settleDecided(): Promise<void> {
    for (const { id, lines } of await this.store.settleDecided())
      await this.invite(id, await this.store.findUninvitedOf(id, lines));
  }

  private async cancelForgotten(): Promise<void> {
    const days = this.environment.CAMPAIGN_ROWS_DAYS;
    if (days > 0) await this.store.cancelForgotten(days);
  }

  private async inviteAll(id: string, signal: AbortSignal): Promise<boolean> {
    let areInvited = true;
    for (let after = 0; !signal.aborted;) {
      const rows = await this.store.findUninvitedAfter(id, after);
      if (rows.length === 0) break;
      if (!(await this.invite(id, rows))) areInvited = false;
      after = rows.at(-1)!.line;
    }
    return areInvited;
  }

  /**
   * Invites the owners of these rows. May be repeated: a location has at most one live invitation. A row whose invitation PostgreSQL refuses
   * stops no other. Returns false if there is one.
   */
  private async invite(campaignId: string, rows: readonly UninvitedRow[]): Promise<boolean> {
    const refused = new Set<number>();
    // An adopted row has all locations of its user. The row gets an invitation only once the owners of all locations are invited.
    const left = [...new Set(rows.map(({ line }) => line))];
    const inviteOne = (line: number) =>
      unlessRefused(refused, line, `the invitation of line ${line} of campaign ${campaignId}`, () =>
        this.inviteRow(campaignId, line, rows),
      );
    const inviteNext = async (): Promise<void> => {
      for (let line = left.pop(); line !== undefined; line = left.pop()) await inviteOne(line);
    };
    await Promise.all(Array.from({ length: INVITE_AT_ONCE }, inviteNext));
    return refused.size === 0;
  }

  private async inviteRow(campaignId: string, line: number, rows: readonly UninvitedRow[]): Promise<void> {
    let last: string | null = null;
    for (const { line: ofRow, ...given } of rows) {
      if (ofRow !== line) continue;
      const wanted = { ...given, returnUrl: null, expiresAt: null, campaignId };
      const created = await this.invitations.create(wanted, this.environment.INVITATION_TTL_DAYS);
      last = created?.invitation.id ?? last;
    }
    if (last !== null) await this.store.setInvitation(campaignId, line, last);
  }
}
