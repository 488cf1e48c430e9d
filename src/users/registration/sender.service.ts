import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { AuthorisedRemote } from '../../auth/authorised-remote.service.js';
import { isDatabaseUnavailable } from '../../platform/problem/database-unavailable.js';
import { ContractDrift } from '../../remote/drift/contract-drift.service.js';
import { foreignId } from '../../remote/drift/drift.js';
import type { Priority } from '../../remote/outcome.rules.js';
import { outcomeOf } from '../../remote/wire/read-response.js';
import { planVerdict, withForeignIds, type Verdict } from './registration.rules.js';
import { LEASE_RENEWAL_MS, RegistrationsStore, type Settled } from './registrations.store.js';
import type { Claim } from './registration.rules.js';
import { readRegisterUserResponse, registerUserRequest, USER_ANSWER } from '../remote/users.client.js';

/** How long to retry storing an outcome. An outcome is worth more than the request that waits for it. */
const STORE_FOR_MS = 30_000;
const STORE_PAUSE_MS = 250;

/** Sends the one call of a claim and stores its outcome. No transaction is open during the call. */
@Injectable()
export class RegistrationSender {
  private readonly logger = new Logger(RegistrationSender.name);

  constructor(
    private readonly store: RegistrationsStore,
    private readonly remote: AuthorisedRemote,
    private readonly drift: ContractDrift,
  ) {}

  /**
   * Sends the call. Returns what became of the registration, or null if the claim has been superseded. `priority` is `foreground` if a
   * request waits for the claim.
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
      // The next renewal may succeed. If none does, the registration becomes `uncertain`, which a late response can still correct.
      this.logger.warn(`registration ${claim.id}: the lease could not be renewed`);
    }
  }

  // If a connection is lost during COMMIT, it is unknown whether the outcome is stored; storing it twice changes nothing.
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
