import { Injectable } from '@nestjs/common';
import { currentExecution } from '../../access/execution.js';
import { AuthorisedRemote } from '../../auth/authorised-remote.service.js';
import { BackgroundTasks, task } from '../../platform/tasks/background-tasks.js';
import { WakeUp } from '../../platform/async/wake-up.js';
import { NEVER } from '../../platform/database/lease.js';
import { AbandonedLeases } from '../../platform/database/abandoned-leases.js';
import { describeState } from '../../platform/database/sql-state.js';
import { Environment } from '../../platform/env/environment.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { errorText } from '../../platform/redaction/error-text.js';
import { stopsWithin } from '../../platform/shutdown/limits.js';
import { traced } from '../../platform/tracing/tracing.js';
import { faultBy, Responses } from '../../remote/responses.service.js';
import { foreignId } from '../../remote/drift.js';
import type { Priority } from '../../remote/outcome.rules.js';
import type { UserRecord } from '../user/user.view.js';
import type { Fields } from '../../remote/wire/read-field.js';
import { readRegisterUserResponse, registerUserRequest, USER_RESPONSE } from '../remote/users.client.js';
import { planSettlement, unstored, withForeignIds } from './registration.rules.js';
import type { Claim, RegistrationStatus, Settlement } from './registration.rules.js';
import { ANY_DUE, SENT } from './registrations.sql.js';
import { RegistrationsStore } from './registrations.store.js';

/** Remote calls that register users. If they take longer, their leases expire, and the registrations become `uncertain`. */
const STOP_WITHIN_MS = stopsWithin(3_000);
/** The pause between two rounds of a loop. A due registration waits for half of it on average, which no caller notices after a 202. */
const PAUSE_MS = 1_000;
/** How long to try to store an outcome after which nothing waits. */
const LATE_WITHIN_MS = 10 * 60_000;
/** The calls at the same time: few, to leave the poller room. A third of their time is the claim and the outcome in PostgreSQL. */
const AT_ONCE = 16;

/** The statuses after which `sendDue` ends, so that the loop pauses before the next calls. */
const TROUBLE: readonly (RegistrationStatus | undefined)[] = ['pending', 'uncertain'];

/** `user`: as it was stored. Null if it was not, or if an earlier write had stored it. */
interface Settled {
  readonly status: RegistrationStatus;
  readonly user: UserRecord | null;
}

/*
 * Registering a user.
 *
 * `POST /users` of the remote service has no idempotency key, and there is no look-up. If its response is lost, nobody can ask whether the
 * user exists, and a repetition may create the user twice. So the call is made at most once without a person's decision, unless it certainly
 * had no effect.
 *
 * The intent (a row of registrations) is committed before the call. Its states, and who leaves them
 * - pending, due: a worker claims it, or a request for the same reference joins it and claims it.
 * - pending, leased: the call may be in flight. `sent_at` and `attempts` were written by the claim, before the call.
 * - registered: the user, its locations and the event commit with the status. Final.
 * - rejected: the service refused the request and has no user. A person may retry; the tenant may register the reference anew.
 * - uncertain: the call may have had its effect, or the database was restored from a backup. A person decides: retry, discard or resolve. A
 *   late response still settles it.
 * - discarded: a person has given it up. The tenant may register the reference anew.
 * A partial unique index allows one live row (pending, registered, uncertain) per reference, whatever the concurrency.
 *
 * Lease and fence
 * - Only a claim sets a lease, so a lease means that the call may have been sent. A claim never takes a leased row.
 * - `attempts` numbers the calls. An outcome is stored only if its call is still the latest (`planOutcome`).
 * - The sender renews its lease every 2.5 s while the call waits for its turn, its token and its response.
 *
 * What a crash leaves
 * - Before the intent commits: nothing. The caller gets an error and repeats the request.
 * - After the claim, before or during the call: a leased row. Its lease expires within 10 s, and `moveAbandoned` makes it uncertain, since
 *   nobody knows whether the request was written.
 * - After the response, before the outcome commits: the same, because the response died with the process.
 * - After the commit: the event is in the outbox.
 * If the database refuses the outcome, the write is repeated for 30 s, or for 2 s once the process stops. Then `unstored` keeps what is
 * known in `lastError`, without text of the remote service. If that is refused, too, for example by a full disk, the outcome stays in memory
 * and settles the registration within 10 minutes, as a late response does.
 * A claim whose COMMIT got no response is undone (`RETURN_CLAIM`), since nothing has been sent yet.
 *
 * Outcome of the call → status (`planSettlement`): done → registered; rejected → rejected, but a 409 to a repeated call → uncertain;
 * not_sent → pending with a backoff; ambiguous and unreadable → uncertain. `weighOutcome` first makes `not_sent` of a 401 and of a 4xx that
 * may come from something in front of the service.
 *
 * At night: `admin.registrations_open` lists what is pending and uncertain, since when and why. `POST /registrations/{id}/retry`,
 * `/discard` and `/resolve` are the decisions; docs/registrations.md says which one is right.
 */
/** Sends claimed registrations and stores their outcomes. No transaction is open during a call. A worker also claims due registrations. */
// Rejected: a job queue. A job may run twice, but this call must not, so the table would still need the lease.
@Injectable()
export class RegistrationSender extends BackgroundTasks {
  readonly wakeUp = new WakeUp();
  protected readonly tasks = [
    task({
      name: 'registrations.end_abandoned',
      everyMs: PAUSE_MS,
      due: SENT,
      run: () => this.moveAbandoned(),
    }),
    task({
      name: 'registrations.send',
      everyMs: PAUSE_MS,
      due: ANY_DUE,
      wakeUp: this.wakeUp,
      run: (stop: AbortSignal) => this.sendDue(stop),
    }),
  ];
  private readonly leases = new AbandonedLeases(() => this.registrations.findLeases());

  private readonly outcomes = this.metrics.counter({
    name: 'pv_onboarding_registration_calls_total',
    help: 'Calls of this process to register a user, by the status of the registration after them; stale if a newer call or a decision came first',
    labels: ['outcome'],
  });

  constructor(
    private readonly registrations: RegistrationsStore,
    private readonly remote: AuthorisedRemote,
    private readonly responses: Responses,
    { ROLE }: Environment,
    private readonly metrics: Metrics,
  ) {
    super('registrations could not be claimed', ROLE !== 'api', STOP_WITHIN_MS);
  }

  /** Sends the call. Returns null if a newer call or a decision came first, or nothing was stored. `foreground`: a request waits for it. */
  send(claim: Claim, priority: Priority): Promise<Settled | null> {
    const parent = priority === 'foreground' ? undefined : null;
    const attributes = { 'pv_onboarding.registration.id': claim.id };
    return traced({ name: 'register user', parent, attributes }, () =>
      this.registrations.leases.renewWhile(claim, NEVER, () => this.call(claim, priority)),
    );
  }

  private async call(claim: Claim, priority: Priority): Promise<Settled | null> {
    await currentExecution()?.intend({ id: claim.id });
    const reader = {
      documented: USER_RESPONSE,
      read: (fields: Fields) => readRegisterUserResponse(fields, claim),
    };
    // Without the EANs: if one is missing in the response, it says nothing about the next customers.
    const read = (fields: Fields) => readRegisterUserResponse(fields, { ...claim, eans: [] });
    const request = { ...registerUserRequest(claim), priority, faultOf: faultBy({ ...reader, read }) };
    const sent = await this.remote.send(request, 'tenant');
    const interpreted = this.responses.interpret('register_user', sent, reader);
    const outcome = await this.remote.weighOutcome(request, interpreted);
    return this.settle(claim, planSettlement(outcome, claim.attempts, Math.random()));
  }

  /** Stores the outcome, or `uncertain` if an id of the user already belongs to another user in our database. Never throws. */
  private async settle(claim: Claim, settlement: Settlement): Promise<Settled | null> {
    try {
      return await this.store(claim, settlement);
    } catch (error) {
      // The row, the constraint or the right at fault may concern only what the outcome contains.
      const known = unstored(settlement, describeState(error));
      this.logger.error({ message: `${known.lastError}: ${errorText(error)}`, registrationId: claim.id });
      try {
        return await this.store(claim, known, 0);
      } catch {
        // Holds no place and no lease. Meanwhile, the registration may become `uncertain`, or a person may decide.
        void this.store(claim, settlement, LATE_WITHIN_MS).catch(() => {});
        return null;
      }
    }
  }

  private async store(claim: Claim, settlement: Settlement, withinMs?: number): Promise<Settled | null> {
    const settled = await this.registrations.settle(claim, settlement, withinMs);
    if (typeof settled === 'object' && 'foreignFields' in settled) {
      const fields = [...new Set(settled.foreignFields.map((field) => field.replace(/\[\d+\]/, '[]')))];
      const drifts = fields.map((field) => foreignId(field, 'another user'));
      this.responses.reportDrift('register_user', drifts);
      return this.store(claim, withForeignIds(fields));
    }
    this.report(claim, settlement, settled !== 'stale');
    if (settled === 'stale') return null;
    return { status: settlement.status, user: settled === 'stored' ? null : settled.user };
  }

  private report({ id, attempts }: Claim, settlement: Settlement, isStored: boolean): void {
    const { status } = settlement;
    this.outcomes.inc({ outcome: isStored ? status : 'stale' });
    const reason = status === 'registered' ? '' : `: ${settlement.reason}`;
    const stale = isStored ? '' : '; not stored, since a newer call or a decision came first';
    const message = `a registration is ${status} after call ${attempts}${reason}${stale}`;
    const isOrdinary = isStored && (status === 'registered' || status === 'pending');
    this.logger[isOrdinary ? 'log' : 'warn']({ message, registrationId: id });
  }

  private async moveAbandoned(): Promise<void> {
    const seen = await this.leases.findSeen();
    if (seen.length === 0) return;
    const ids = await this.registrations.moveAbandonedToUncertain(seen);
    this.outcomes.inc({ outcome: 'uncertain' }, ids.length);
    const message =
      'a registration is uncertain: its sender died during the call, or could not renew its lease';
    for (const registrationId of ids) this.logger.warn({ message, registrationId });
  }

  /**
   * Sends due registrations until none is left or a call fails, several at once: each call that ends makes room for the next. Claims only as
   * many as may be sent to the remote service now.
   */
  private async sendDue(stop: AbortSignal): Promise<void> {
    const inFlight = new Set<Promise<void>>();
    let isAccepting = true;
    const sendNext = async (claim: Claim): Promise<void> => {
      if (!(await this.sendClaimed(claim))) isAccepting = false;
    };
    try {
      while (isAccepting && !stop.aborted) {
        const free = Math.min(AT_ONCE, this.remote.roomFor('register_user')) - inFlight.size;
        const claims = free > 0 ? await this.registrations.claimDue(free) : [];
        for (const claim of claims) {
          const call: Promise<void> = sendNext(claim).finally(() => inFlight.delete(call));
          inFlight.add(call);
        }
        if (inFlight.size === 0) return;
        await Promise.race(inFlight);
      }
    } finally {
      await Promise.all(inFlight);
    }
  }

  /** Sends the call. Returns whether the next calls may follow at once. Never throws. */
  private async sendClaimed(claim: Claim): Promise<boolean> {
    try {
      return !TROUBLE.includes((await this.send(claim, 'background'))?.status);
    } catch (error) {
      const message = `the outcome of a registration was not stored: ${errorText(error)}`;
      this.logger.error({ message, registrationId: claim.id });
      return false;
    }
  }
}
