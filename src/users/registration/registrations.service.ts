import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { Environment } from '../../platform/env/environment.js';
import { refuse } from '../../platform/http/validation.js';
import { Problem } from '../../platform/problem/problem.js';
import { sameEans } from '../ean.rules.js';
import { readGridLocations } from '../grid-locations.rules.js';
import type { Metadata } from '../metadata.rules.js';
import { RegistrationDecisionsStore } from './decisions.store.js';
import { RegistrationSender } from './sender.service.js';
import { RegistrationsStore, type RegistrationRecord } from './registrations.store.js';
import type { Claim, RegistrationRequest } from './registration.rules.js';
import { findTimeFaults, readRemoteUser, type RemoteUser } from '../remote/remote-user.rules.js';
import { UsersStore, type UserRecord } from '../user/users.store.js';

/** The result of `POST /users`: a user, registered by this request or an earlier one, or a registration that is still open. */
export type Registered =
  | { readonly kind: 'created' | 'existing'; readonly user: UserRecord }
  | { readonly kind: 'open'; readonly registration: RegistrationRecord };

/** Added to the deadline of one call, for its wait for a turn and for storing its outcome. */
const WAIT_MARGIN_MS = 2_000;
/** The interval doubles from the first to the second, so that many long waits for one registration do not burden the database. */
const LOOK_AGAIN_MS = 25;
const LOOK_AGAIN_AT_MOST_MS = 400;
/** Another round is needed only if another request's registration ends without a user just then. */
const ROUNDS = 5;

@Injectable()
export class RegistrationsService {
  private readonly logger = new Logger(RegistrationsService.name);

  constructor(
    private readonly environment: Environment,
    private readonly store: RegistrationsStore,
    private readonly users: UsersStore,
    private readonly sender: RegistrationSender,
    private readonly decisions: RegistrationDecisionsStore,
  ) {}

  /**
   * Registers a user once, however many requests for it run concurrently and on whichever replicas. Throws Problem invalid_request,
   * tenant_reference_conflict, registration_conflict or remote_rejected.
   */
  async register(
    tenantReference: string,
    gridLocations: readonly { ean: unknown }[],
    metadata: Metadata,
  ): Promise<Registered> {
    const request = { tenantReference, eans: this.readEans(gridLocations), metadata };
    for (let round = 1; round <= ROUNDS; round++) {
      const claim = await this.store.openIntent(request);
      if (claim !== null) return this.send(claim);
      const live = await this.store.findLive(tenantReference);
      if (live !== null) return this.join(live, request);
    }
    throw new Problem(
      'registration_conflict',
      'The registration of this tenantReference is being decided about at the moment',
    );
  }

  /** Throws Problem not_found. */
  async getRegistration(id: string): Promise<RegistrationRecord> {
    const registration = await this.store.findRegistration(id);
    if (registration === null) throw new Problem('not_found', `There is no registration ${id}`);
    return registration;
  }

  /** The three decisions throw Problem not_found, or registration_conflict if the registration's status does not allow them. */
  async retry(id: string, actor: string): Promise<RegistrationRecord> {
    await this.decisions.retry(id, actor);
    return this.getRegistration(id);
  }

  async discard(id: string, actor: string): Promise<RegistrationRecord> {
    await this.decisions.discard(id, actor);
    return this.getRegistration(id);
  }

  /** `confirmed` is the user object of the provider. Problem invalid_request names the fields that do not match the registration. */
  async resolve(id: string, actor: string, confirmed: unknown): Promise<RegistrationRecord> {
    await this.decisions.resolve(id, actor, (registration) => readConfirmed(confirmed, registration));
    return this.getRegistration(id);
  }

  private readEans(gridLocations: readonly { ean: unknown }[]): readonly string[] {
    const { eans, errors, suspectIndexes } = readGridLocations(
      gridLocations,
      this.environment.EAN_CHECK_DIGIT,
    );
    refuse(errors);
    if (suspectIndexes.length > 0) {
      this.logger.warn(`accepted ${suspectIndexes.length} of ${eans.length} EANs whose check digit is wrong`);
    }
    return eans;
  }

  /** Returns the result for a request whose reference already had a live registration. Throws Problem tenant_reference_conflict. */
  private async join(live: RegistrationRecord, request: RegistrationRequest): Promise<Registered> {
    if (!sameEans(live.eans, request.eans)) {
      throw new Problem(
        'tenant_reference_conflict',
        `This tenantReference has a registration with other EANs: ${live.id}`,
      );
    }
    const claim = live.isDue ? await this.store.claimOne(live.id) : null;
    if (claim === null) return this.answer(await this.waitForSender(live), 'existing');
    return this.send(claim);
  }

  /** Sends the call. Returns a user that was just stored directly; reads any other result from the database. */
  private async send(claim: Claim): Promise<Registered> {
    const settled = await this.sender.send(claim, 'foreground');
    if (settled?.status === 'registered') return { kind: 'created', user: settled.user };
    return this.answer(await this.lookAgain(claim.id), 'created');
  }

  /** Waits for the outcome, at most as long as a call may take; the caller then has to repeat the request. */
  private async waitForSender(registration: RegistrationRecord): Promise<RegistrationRecord> {
    const until = performance.now() + this.environment.SCS_TIMEOUT_MS + WAIT_MARGIN_MS;
    let current = registration;
    let pauseMs = LOOK_AGAIN_MS;
    while ((current.isBeingSent || current.isDue) && performance.now() < until) {
      await sleep(pauseMs);
      pauseMs = Math.min(2 * pauseMs, LOOK_AGAIN_AT_MOST_MS);
      current = await this.lookAgain(registration.id);
    }
    return current;
  }

  private async lookAgain(id: string): Promise<RegistrationRecord> {
    const registration = await this.store.findRegistration(id);
    if (registration === null) throw erasedMeanwhile(id);
    return registration;
  }

  private async answer(registration: RegistrationRecord, kind: 'created' | 'existing'): Promise<Registered> {
    switch (registration.status) {
      case 'registered': {
        const user = registration.userId && (await this.users.findUser(registration.userId));
        if (!user) throw erasedMeanwhile(registration.id);
        return { kind, user };
      }
      case 'rejected':
        throw new Problem('remote_rejected', `Registration ${registration.id}: ${registration.lastError}`);
      case 'pending':
      case 'uncertain':
        return { kind: 'open', registration };
      case 'discarded':
        throw new Problem(
          'registration_conflict',
          `Registration ${registration.id} was discarded while this request waited`,
        );
    }
  }
}

const erasedMeanwhile = (id: string): Problem =>
  new Problem('registration_conflict', `Registration ${id} was erased while this request waited`);

function readConfirmed(confirmed: unknown, registration: RegistrationRecord): RemoteUser {
  const read = readRemoteUser(confirmed, registration);
  refuse([...('faults' in read ? read.faults : []), ...findTimeFaults(confirmed)]);
  if ('faults' in read) {
    throw new Problem('invalid_request', 'The user does not fit the registration');
  }
  return read.user;
}
