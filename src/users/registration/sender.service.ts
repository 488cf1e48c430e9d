import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { AuthorisedRemote } from '../../auth/authorised-remote.service.js';
import { isDatabaseUnavailable } from '../../platform/problem/database-unavailable.js';
import { ContractDrift } from '../../remote/drift/contract-drift.service.js';
import { foreignId } from '../../remote/drift/drift.js';
import type { Priority } from '../../remote/outcome.rules.js';
import { outcomeOf } from '../../remote/wire/read-response.js';
import { planVerdict, withForeignIds, type Verdict } from './registration.rules.js';
import { LEASE_RENEWAL_MS, RegistrationsStore, type Claim, type Settled } from './registrations.store.js';
import { readRegisterUserResponse, registerUserRequest, USER_ANSWER } from '../remote/users.client.js';

/** An answer is worth more than the request that waits for it: for this long, it is kept until the database takes it. */
const STORE_FOR_MS = 30_000;
const STORE_PAUSE_MS = 250;

/** Makes the one call that a claim is for, and stores what came of it. No transaction is open meanwhile. */
@Injectable()
export class RegistrationSender {
  private readonly logger = new Logger(RegistrationSender.name);

  constructor(
    private readonly store: RegistrationsStore,
    private readonly remote: AuthorisedRemote,
    private readonly drift: ContractDrift,
  ) {}

  /**
   * Answers what has become of the registration; null where it has moved on without this call. `foreground` is for a claim that
   * a request waits for.
   */
  async send(claim: Claim, priority: Priority): Promise<Settled | null> {
    const renewal = setInterval(() => void this.renew(claim), LEASE_RENEWAL_MS);
    try {
      const sent = await this.remote.send({ ...registerUserRequest(claim), priority }, 'tenant');
      this.drift.examine('register_user', sent, USER_ANSWER);
      const outcome = outcomeOf(sent, (answer) => readRegisterUserResponse(answer, claim));
      this.drift.examineOutcome('register_user', outcome);
      const verdict = planVerdict(outcome, claim.attempts, Math.random());
      const settled = await this.settle(claim, verdict);
      if (settled?.status === 'uncertain' && settled.foreignIds !== undefined) {
        const drifts = settled.foreignIds.map((field) => foreignId(field, 'another user'));
        this.drift.report('register_user', drifts);
        this.report(claim, withForeignIds(settled.foreignIds), true);
      } else this.report(claim, verdict, settled !== null);
      return settled;
    } finally {
      clearInterval(renewal);
    }
  }

  private async renew(claim: Claim): Promise<void> {
    try {
      await this.store.extendLease(claim);
    } catch {
      // The next renewal may succeed; if none does, the registration becomes uncertain, which a late answer still mends.
      this.logger.warn(`registration ${claim.id}: the lease could not be renewed`);
    }
  }

  // A connection lost during COMMIT leaves open whether the outcome is stored; storing it twice changes nothing.
  private async settle(claim: Claim, verdict: Verdict): Promise<Settled | null> {
    const until = performance.now() + STORE_FOR_MS;
    for (;;) {
      try {
        return await this.store.settle(claim, verdict);
      } catch (error) {
        if (!isDatabaseUnavailable(error) || performance.now() > until) throw error;
        await sleep(STORE_PAUSE_MS);
      }
    }
  }

  private report(claim: Claim, verdict: Verdict, isStored: boolean): void {
    const said = `registration ${claim.id}: ${verdict.status} after call ${claim.attempts}`;
    if (!isStored) this.logger.warn(`${said}, but the registration had moved on before`);
    else if (verdict.status === 'registered') this.logger.log(said);
    else if (verdict.status === 'pending') this.logger.log(`${said}: ${verdict.lastError}`);
    else this.logger.warn(`${said}: ${verdict.reason}`);
  }
}
