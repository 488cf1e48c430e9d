import { Injectable } from '@nestjs/common';
import { ReadHabits } from '../onboarding/poll/habits.service.js';
import { toRegistrationView } from '../users/registration/registration.view.js';
import { RegistrationsStore } from '../users/registration/registrations.store.js';
import { toUserView } from '../users/user/user.view.js';
import { UsersStore } from '../users/user/users.store.js';
import { StallViews } from '../stalls/stall-views.service.js';
import { withoutLink } from '../invitations/invitations.store.js';
import { decideCase } from './case.rules.js';
import { CaseStore, type RecordedCase } from './case.store.js';
import type { CaseView, CustomerView } from './case.view.js';
import { decideCustomer } from './customer.rules.js';
import type { Snapshot } from './snapshot.rules.js';

/** The most customers with one EAN that a response has. */
export const MOST_CUSTOMERS = 10;

@Injectable()
export class CasesService {
  constructor(
    private readonly store: CaseStore,
    private readonly users: UsersStore,
    private readonly registrations: RegistrationsStore,
    private readonly stalls: StallViews,
    private readonly habits: ReadHabits,
  ) {}

  async findCase(gridLocationId: string): Promise<CaseView | null> {
    const recorded = await this.store.find(gridLocationId);
    return recorded && this.toCase(recorded);
  }

  /** Returns the customers with this reference or EAN, ordered by reference. */
  async findCustomers(by: { tenantReference: string } | { ean: string }): Promise<CustomerView[]> {
    const references =
      'ean' in by ? await this.registrations.findReferences(by.ean, MOST_CUSTOMERS) : [by.tenantReference];
    const [users, registrations] = await Promise.all([
      this.users.findByReferences(references),
      this.registrations.findLatest(references),
    ]);
    const cases = (await this.store.listOfUsers(users.map(({ id }) => id))).map((each) => this.toCase(each));
    return references.flatMap((tenantReference) => {
      const user = users.find((each) => each.tenantReference === tenantReference);
      const registration = registrations.find((each) => each.tenantReference === tenantReference) ?? null;
      if (user === undefined && registration === null) return [];
      const own = cases.filter(({ userId }) => userId === user?.id);
      return {
        tenantReference,
        ...decideCustomer(registration, own),
        registration: registration && toRegistrationView(registration, this.stalls),
        user: user === undefined ? null : toUserView(user),
        cases: own,
      };
    });
  }

  private toCase({ now, sessions, starts, invitations: rows, ...place }: RecordedCase): CaseView {
    const invitations = rows.map((row) => withoutLink(row, this.stalls));
    const snapshot: Snapshot = {
      gridLocationId: place.gridLocationId,
      sessions,
      starts,
      invitation: invitations[0],
      wishDueAt: rows[0]?.wishDueAt ?? null,
      usualWait: (brand) => this.habits.usualWait(brand),
    };
    return {
      ...place,
      ...decideCase(snapshot, now),
      sessions: sessions.map(({ startUrlCiphertext: _s, changedAt: _c, now: _n, ...session }) => ({
        ...session,
        stalled: this.stalls.view('session', session, session.stalled),
      })),
      starts: starts.map((start) => ({ ...start, stalled: this.stalls.view('start', start, start.stalled) })),
      invitations,
    };
  }
}
