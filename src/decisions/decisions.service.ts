import { Injectable, Logger } from '@nestjs/common';
import { counted } from '../platform/counted.rules.js';
import { Environment } from '../platform/env/environment.js';
import { invalidRequest, refuse } from '../platform/http/validation.js';
import { found, Problem } from '../platform/problem/problem.js';
import { StallsStore } from '../stalls/stalls.store.js';
import { roundedEans, type CheckDigitRule } from '../users/ean.rules.js';
import { readRemoteUser, type RemoteUser } from '../users/remote/remote-user.rules.js';
import { DECIDABLE, type PersonDecision } from './decision.rules.js';
import { DecisionResultView, type BulkDecision } from './decisions.dto.js';
import { DecisionsStore, type Decided } from './decisions.store.js';
import { RegistrationsStore, type RegistrationRecord } from '../users/registration/registrations.store.js';

@Injectable()
export class DecisionsService {
  private readonly logger = new Logger(DecisionsService.name);

  constructor(
    private readonly decisions: DecisionsStore,
    private readonly registrations: RegistrationsStore,
    private readonly stalls: StallsStore,
    private readonly environment: Environment,
  ) {}

  /** Applies a decision. Throws Problem not_found, registration_conflict or, for a faulty `confirmed`, ean_rounded or invalid_request. */
  async decide(
    id: string,
    actor: string,
    decision: PersonDecision,
    { confirmed, unchangedSince }: { readonly confirmed?: unknown; readonly unchangedSince?: Date } = {},
  ) {
    const registration = found(await this.registrations.findRegistration(id), `registration ${id}`);
    const { EAN_CHECK_DIGIT: rule } = this.environment;
    const user = decision === 'resolve' ? readConfirmed(confirmed, registration, rule) : undefined;
    const decided = await this.decisions.decide({ id, actor, decision, user, unchangedSince });
    const isDecided = decided.status === 'decided';
    if (isDecided) await this.stalls.lookNow('registration', id);
    const known = found(await this.registrations.findSequenced(id), `registration ${id}`);
    if (isDecided)
      this.logger.log({ message: `${actor} decided to ${decision} a registration`, registrationId: id });
    else if (
      !isDiscardedBefore(decided, decision) &&
      (user === undefined || known.userId !== user.id || !(await this.decisions.hasLocations(user)))
    )
      throw problemOf(decided, decision, id);
    return known;
  }

  /** Applies one decision to each of these registrations, each in a transaction of its own. */
  async decideEach(
    ids: Iterable<string>,
    actor: string,
    { decision, unchangedSince }: Pick<BulkDecision, 'decision' | 'unchangedSince'>,
  ): Promise<DecisionResultView[]> {
    const results: DecisionResultView[] = [];
    for (const id of ids) {
      const decided = await this.decisions.decide({ id, actor, decision, unchangedSince });
      if (decided.status === 'decided' || isDiscardedBefore(decided, decision)) {
        results.push(DecisionResultView.of({ id, ok: true, code: null, detail: null }));
      } else {
        const { code, detail } = problemOf(decided, decision, id);
        results.push(DecisionResultView.of({ id, ok: false, code, detail }));
      }
    }
    const count = results.filter(({ ok }) => ok).length;
    this.logger.log(
      `${actor} decided to ${decision} ${count} of ${counted(results.length, 'registration', 'registrations')}`,
    );
    return results;
  }
}

/** Whether a repetition of the decision was refused. */
const isDiscardedBefore = (decided: Decided, decision: PersonDecision): boolean =>
  decision === 'discard' && decided.status === 'wrong_status' && decided.current === 'discarded';

/** Returns the user that a person has entered. Throws Problem ean_rounded or invalid_request. */
function readConfirmed(
  confirmed: unknown,
  registration: RegistrationRecord,
  rule: CheckDigitRule,
): RemoteUser {
  // Excludes the EANs of the registration: an equal EAN has lost no digit, even if the person's client rounds numbers.
  refuse(roundedEans(confirmed, rule, registration.eans), 'ean_rounded');
  const read = readRemoteUser(confirmed, registration, 'person');
  if ('faults' in read) throw invalidRequest(read.faults);
  return read.user;
}

/** Returns the problem of a decision that was not applied. */
function problemOf(
  decided: Exclude<Decided, { status: 'decided' }>,
  decision: PersonDecision,
  registrationId: string,
): Problem {
  if (decided.status === 'not_found')
    return new Problem('not_found', `There is no registration ${registrationId}`);
  const fields = decided.status === 'identity_taken' ? decided.foreignFields : [];
  const message = 'belongs to another user or another object in our database';
  return new Problem('registration_conflict', detailOf(decided, decision), {
    ids: { registrationId },
    ...(fields.length > 0 && { errors: fields.map((field) => ({ field, message })) }),
  });
}

type Conflict = Exclude<Decided, { status: 'decided' | 'not_found' }>;

function detailOf(decided: Conflict, decision: PersonDecision): string {
  switch (decided.status) {
    case 'being_sent':
      return 'The registration is being sent; decide once its response is known';
    case 'changed':
      return 'The registration has changed since `unchangedSince`; read it again';
    case 'wrong_status':
      return `${decision} is for the statuses ${DECIDABLE[decision].join(', ')}; this registration is ${decided.current}`;
    case 'reference_taken':
      return 'The tenantReference has another live registration';
    case 'identity_taken':
      return 'The id or a grid location belongs to another user in our database';
  }
}
