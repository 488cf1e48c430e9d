import { normaliseReference } from '../../platform/spelling.rules.js';
import { counted } from '../../platform/counted.rules.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { Injectable, Logger } from '@nestjs/common';
import { currentExecution } from '../../access/execution.js';
import { backoffMs } from '../../platform/async/backoff.rules.js';
import { Environment } from '../../platform/env/environment.js';
import { refuse } from '../../platform/http/validation.js';
import { Problem } from '../../platform/problem/problem.js';
import { readGridLocations, roundedEans, warnOfOthers } from '../ean.rules.js';
import { warnOfReference } from '../tenant-reference.rules.js';
import { StallsStore } from '../../stalls/stalls.store.js';
import type { UserRecord } from '../user/user.view.js';
import { UsersStore } from '../user/users.store.js';
import type { RegisterUserInput } from '../users.dto.js';
import type { Claim, RegistrationRequest } from './registration.rules.js';
import { RegistrationsStore, type RegistrationRecord } from './registrations.store.js';
import { RegistrationSender } from './send-registrations.service.js';

/** The result of `POST /users`: the user that this or an earlier request registered, or a registration that is pending or uncertain. */
type Registered =
  | { readonly kind: 'created' | 'existing'; readonly user: UserRecord }
  | { readonly kind: 'open'; readonly registration: RegistrationRecord };

/** Added to SCS_TIMEOUT_MS when a request waits for another sender. That sender may wait in the call queue, and stores the outcome. */
const WAIT_MARGIN_MS = 2_000;
/** The pause between two reads of a registration. It grows, so that many long waits do not burden the database. */
const PAUSE = { firstMs: 25, mostMs: 400 };
/** Maximum attempts to insert or join a registration. An attempt fails only if the registration of another request ends meanwhile. */
const ROUNDS = 5;

@Injectable()
export class RegistrationsService {
  private readonly logger = new Logger(RegistrationsService.name);

  constructor(
    private readonly environment: Environment,
    private readonly store: RegistrationsStore,
    private readonly users: UsersStore,
    private readonly sender: RegistrationSender,
    private readonly stalls: StallsStore,
  ) {}

  /** Registers a user. Throws Problem invalid_request, ean_rounded, remote_rejected, tenant_reference_conflict, registration_conflict. */
  async register(input: RegisterUserInput) {
    // Checks for rounded EANs first, since rounding makes different EANs equal, so that they would look like duplicates.
    refuse(roundedEans(input, this.environment.EAN_CHECK_DIGIT), 'ean_rounded');
    const { gridLocations, metadata = {} } = input;
    const tenantReference = normaliseReference(input.tenantReference);
    const { eans, errors, warnings } = readGridLocations(gridLocations, this.environment.EAN_CHECK_DIGIT);
    refuse(errors);
    if (warnings.length > 0)
      this.logger.warn(
        `accepted ${counted(warnings.length, 'EAN', 'EANs')} of ${eans.length} whose check digit is wrong`,
      );
    const registered = await this.registerOnce({ tenantReference, eans, metadata });
    // Counts after the request is stored, so that at least one of two concurrent requests with the same EAN gets the warning.
    const { others, alike } = await this.store.countOthers(eans, tenantReference);
    return {
      ...registered,
      warnings: [
        ...warnings,
        ...warnOfOthers(eans, others),
        ...warnOfReference(tenantReference, tenantReference !== input.tenantReference, alike),
      ],
    };
  }

  private async registerOnce(request: RegistrationRequest): Promise<Registered> {
    // A repetition gets what has become of the registration of the first request, also if that was discarded or rejected.
    const begun = currentExecution()?.result as { readonly id: string } | undefined;
    const first = begun && (await this.store.findRegistration(begun.id));
    if (begun) return first ? this.join(first, request.eans) : this.resultOf(begun.id, 'existing');
    for (let round = 1; round <= ROUNDS; round++) {
      const claim = await this.store.openIntent(request);
      if (claim !== null) return this.send(claim);
      const live = await this.store.findLive(request.tenantReference);
      if (live !== null) return this.join(live, request.eans);
      await this.store.requireActing();
    }
    throw new Problem(
      'registration_conflict',
      'Other requests are changing this registration; send the request again',
    );
  }

  /** Returns the result of the reference's existing registration. If that has other EANs, throws Problem tenant_reference_conflict. */
  private async join(live: RegistrationRecord, eans: readonly string[]): Promise<Registered> {
    if (!isDeepStrictEqual(new Set(live.eans), new Set(eans))) {
      const detail = `This tenantReference has a registration with other EANs: ${live.id}`;
      const ids = { registrationId: live.id, ...(live.userId !== null && { userId: live.userId }) };
      throw new Problem('tenant_reference_conflict', detail, { ids });
    }
    const claim = live.isDue ? await this.store.claimOne(live.id) : null;
    if (claim !== null) return this.send(claim);
    if (live.isDue) await this.store.requireActing();
    if (live.isBeingSent || live.isDue) await this.waitForSender(live.id);
    return this.resultOf(live.id, 'existing');
  }

  private async send(claim: Claim): Promise<Registered> {
    const settled = await this.sender.send(claim, 'foreground');
    if (settled?.user) return { kind: 'created', user: settled.user };
    return this.resultOf(claim.id, 'created');
  }

  /** Waits until the call in flight has an outcome, but no longer than a call may take. */
  private async waitForSender(id: string): Promise<void> {
    const until = performance.now() + this.environment.SCS_TIMEOUT_MS + WAIT_MARGIN_MS;
    for (let attempt = 1; performance.now() < until; attempt++) {
      await sleep(backoffMs(PAUSE, attempt));
      const current = await this.store.findRegistration(id);
      if (!current?.isBeingSent && !current?.isDue) return;
    }
  }

  private async resultOf(id: string, kind: 'created' | 'existing'): Promise<Registered> {
    let registration = await this.store.findRegistration(id);
    // Concurrent requests must get the same response, which contains the stall and the sequence of the last event. An uncertain one is
    // stalled at once, so it is looked at first.
    if (registration?.status === 'uncertain') await this.stalls.lookNow('registration', id);
    if (registration?.status === 'pending' || registration?.status === 'uncertain')
      registration = await this.store.findSequenced(id);
    const user = registration?.userId ? await this.users.findUser(registration.userId) : null;
    if (user !== null) return { kind, user };
    const ids = { registrationId: id };
    switch (registration?.status) {
      case 'rejected':
        throw new Problem('remote_rejected', `Registration ${id}: ${registration.lastError}`, { ids });
      case 'pending':
      case 'uncertain':
        return { kind: 'open', registration };
      default: {
        const end = registration?.status === 'discarded' ? 'discarded' : 'erased';
        throw new Problem('registration_conflict', `Registration ${id} has been ${end}`, { ids });
      }
    }
  }
}
