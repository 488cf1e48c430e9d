import { Injectable, Logger } from '@nestjs/common';
import { invalidRequest, refuse } from '../../platform/http/validation.js';
import { found } from '../../platform/problem/found.js';
import { Problem, type FieldError } from '../../platform/problem/problem.js';
import { roundedEans } from '../ean.rules.js';
import { readRemoteUser, type RemoteUser } from '../remote/remote-user.rules.js';
import type { BulkDecision } from './decisions.dto.js';
import { DecisionsStore, type Decided } from './decisions.store.js';
import { DECIDABLE, type PersonDecision } from './registration.rules.js';
import { RegistrationsStore, type RegistrationRecord } from './registrations.store.js';

/** The result for one registration of many. `code` and `detail` are those of the problem that a decision about it alone would get. */
export interface DecisionResult {
  readonly id: string;
  readonly ok: boolean;
  readonly code: string | null;
  readonly detail: string | null;
}

@Injectable()
export class DecisionsService {
  private readonly logger = new Logger(DecisionsService.name);

  constructor(
    private readonly decisions: DecisionsStore,
    private readonly registrations: RegistrationsStore,
  ) {}

  /** Applies a person's decision. `confirmed` is the user to `resolve` with. Throws Problem not_found, registration_conflict, ean_rounded or invalid_request. */
  async decide(
    id: string,
    actor: string,
    decision: PersonDecision,
    confirmed?: unknown,
  ): Promise<RegistrationRecord> {
    const readUser = (registration: RegistrationRecord) => readConfirmed(confirmed, registration);
    const decided = await this.decisions.decide({ id, actor, decision }, readUser);
    if (decided.status !== 'decided') throw problemOf(decided, decision, id);
    this.logger.log({ message: `${actor} decided to ${decision} a registration`, registrationId: id });
    return found(await this.registrations.findSequenced(id), `registration ${id}`);
  }

  /** Applies one decision to each of these registrations, each in a transaction of its own. */
  async decideEach(
    ids: Iterable<string>,
    actor: string,
    { decision, unchangedSince }: Pick<BulkDecision, 'decision' | 'unchangedSince'>,
  ): Promise<DecisionResult[]> {
    const results: DecisionResult[] = [];
    for (const id of ids) {
      const of = { id, actor, decision, unchangedSince };
      const decided = await this.decisions.decide(of, (registration) =>
        readConfirmed(undefined, registration),
      );
      // Repeated: what was decided before is in order.
      const isRepeated = decided.status === 'wrong_status' && decision === 'discard';
      if (decided.status === 'decided' || (isRepeated && decided.current === 'discarded')) {
        results.push({ id, ok: true, code: null, detail: null });
      } else {
        const { code, detail } = problemOf(decided, decision, id);
        results.push({ id, ok: false, code, detail });
      }
    }
    const count = results.filter(({ ok }) => ok).length;
    this.logger.log(`${actor} decided to ${decision} ${count} of ${results.length} registrations`);
    return results;
  }
}

/** Returns the user that a person has entered. Throws Problem ean_rounded or invalid_request. */
function readConfirmed(confirmed: unknown, registration: RegistrationRecord): RemoteUser {
  // An EAN of the registration has lost no digit, even if the provider's object passed through a client that rounds.
  refuse(roundedEans(confirmed, registration.eans), 'ean_rounded');
  const read = readRemoteUser(confirmed, registration, 'person');
  if ('faults' in read) throw invalidRequest(read.faults);
  return read.user;
}

function problemOf(
  decided: Exclude<Decided, { status: 'decided' }>,
  decision: PersonDecision,
  id: string,
): Problem {
  switch (decided.status) {
    case 'not_found':
      return new Problem('not_found', `There is no registration ${id}`);
    case 'being_sent':
      return conflict('The registration is being sent; decide once its response is known', id);
    case 'changed':
      return conflict('The registration has changed since `unchangedSince`; read it again', id);
    case 'wrong_status': {
      const allowed = DECIDABLE[decision].join(', ');
      return conflict(
        `${decision} is for the statuses ${allowed}; this registration is ${decided.current}`,
        id,
      );
    }
    case 'reference_taken':
      return conflict('The tenantReference has another live registration', id);
    case 'identity_taken':
      return conflict(
        'The id, the tenantReference or a grid location belongs to another user here',
        id,
        decided.fields.map((field) => ({
          field,
          message: 'belongs to another user or another object here',
        })),
      );
  }
}

const conflict = (detail: string, registrationId: string, errors: readonly FieldError[] = []): Problem =>
  new Problem('registration_conflict', detail, {
    ids: { registrationId },
    ...(errors.length > 0 && { errors }),
  });
