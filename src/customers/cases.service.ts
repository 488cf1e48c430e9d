import { Injectable } from '@nestjs/common';
import { StartView } from '../starts/start.view.js';
import { ReadHabits } from '../brands/habits.service.js';
import { toRegistrationView } from '../users/registration/registration.view.js';
import type { Page } from '../platform/http/page.js';
import { UserView } from '../users/user/user.view.js';
import { StallViews } from '../stalls/stall-views.service.js';
import type { StalledView } from '../stalls/stalled.view.js';
import { Brands } from '../invitations/brands.service.js';
import { withoutLink } from '../invitations/invitations.store.js';
import { decideCase, type Snapshot } from './case.rules.js';
import { CaseStore, type RecordedCase } from './case.store.js';
import {
  CaseInvitationView,
  CaseSessionView,
  CaseView,
  CustomerView,
  ListedCustomerView,
  type WaitsView,
} from './case.view.js';
import { brandsOf, decideCustomer, waitOfRegistration } from './customer.rules.js';
import type { CustomersQuery } from './customers.list.js';
import { CustomersStore } from './customers.store.js';
import { WAITS, type Waiting } from './waits.rules.js';

/** The most customers with one EAN that a response has. */
export const MOST_CUSTOMERS = 10;

@Injectable()
export class CasesService {
  constructor(
    private readonly store: CaseStore,
    private readonly customers: CustomersStore,
    private readonly stalls: StallViews,
    private readonly habits: ReadHabits,
    private readonly brands: Brands,
  ) {}

  async findCase(gridLocationId: string): Promise<CaseView | null> {
    const recorded = await this.store.find(gridLocationId);
    return recorded && this.toCase(recorded);
  }

  /** Returns the customers with this reference or EAN, ordered by reference. */
  async findCustomers(by: { tenantReference: string } | { ean: string }): Promise<CustomerView[]> {
    const references =
      'ean' in by ? await this.customers.findReferences(by.ean, MOST_CUSTOMERS) : [by.tenantReference];
    return this.customersOf(references);
  }

  /** Lists customers. Leaves out one that is erased meanwhile. */
  async listCustomers(query: CustomersQuery): Promise<Page<ListedCustomerView>> {
    const { items: rows, next } = await this.customers.listCustomers(query);
    const customers = await this.customersOf(rows.map(({ tenantReference }) => tenantReference));
    const customerOf = new Map(customers.map((each) => [each.tenantReference, each]));
    const items = rows.flatMap(({ tenantReference }) => {
      const customer = customerOf.get(tenantReference);
      if (customer === undefined) return [];
      const { object: _, registration, user, cases, ...waits } = customer;
      const requested = registration?.gridLocations.map(({ ean }) => ({ id: null, ean })) ?? [];
      const brands = brandsOf(cases);
      return ListedCustomerView.of({
        ...waits,
        registrationId: registration?.id ?? null,
        userId: user?.id ?? null,
        gridLocations: user?.gridLocations ?? requested,
        brands,
        brandNames: this.brands.namesOf(brands),
        createdAt: registration?.createdAt ?? user!.registeredAt,
      });
    });
    return { items, next };
  }

  private async customersOf(references: readonly string[]): Promise<CustomerView[]> {
    const [users, registrations] = await Promise.all([
      this.customers.findUsers(references),
      this.customers.findRegistrations(references),
    ]);
    const cases = (await this.store.listOfUsers(users.map(({ id }) => id))).map((each) => this.toCase(each));
    return references.flatMap((tenantReference) => {
      const user = users.find((each) => each.tenantReference === tenantReference);
      const record = registrations.find((each) => each.tenantReference === tenantReference);
      if (user === undefined && record === undefined) return [];
      const registration = record === undefined ? null : toRegistrationView(record, this.stalls);
      const own = cases.filter(({ userId }) => userId === user?.id);
      return CustomerView.of({
        tenantReference,
        ...decideCustomer(this.toWaits(registration?.stalled ?? null, waitOfRegistration(registration)), own),
        campaignId: record?.campaignId ?? null,
        registration,
        user: user === undefined ? null : UserView.of(user),
        cases: own,
      });
    });
  }

  private toCase({
    now,
    sessions: rows,
    starts: sent,
    invitations: invited,
    ...place
  }: RecordedCase): CaseView {
    const sessions = rows.map(({ startUrlCiphertext: _s, changedAt: _c, now: _n, ...session }) =>
      CaseSessionView.of({ ...session, stalled: this.stalls.view('session', session, session.stalled) }),
    );
    const starts = sent.map((start) =>
      StartView.of({ ...start, stalled: this.stalls.view('start', start, start.stalled) }),
    );
    const invitations = invited.map((row) => CaseInvitationView.of(withoutLink(row, this.stalls)));
    const snapshot: Snapshot = {
      gridLocationId: place.gridLocationId,
      ...{ sessions, starts, invitation: invitations[0], earlier: invitations.slice(1) },
      wishDueAt: invited[0]?.wishDueAt ?? null,
      usualWait: (brand) => this.habits.usualWait(brand),
    };
    const { stalled, waiting, ...found } = decideCase(snapshot, now);
    const named = [...sessions, ...starts].flatMap(({ brand }) => brand ?? []);
    const brandNames = this.brands.namesOf([...named, ...invitations.flatMap(({ brands }) => brands)]);
    const waits = this.toWaits(stalled, waiting);
    return CaseView.of({ ...place, ...waits, ...found, brandNames, sessions, starts, invitations });
  }

  /** Returns the stall, or else the ordinary wait, with its words and remedies. */
  private toWaits(stalled: StalledView | null, waiting: Waiting): WaitsView {
    const { state, kind, subject, since, usuallyUntil } = waiting;
    const { brand } = waiting.evidence;
    const evidence = {
      ...waiting.evidence,
      ...(typeof brand === 'string' && { brand: this.brands.nameOf(brand) }),
    };
    const { text, ...words } = stalled ?? this.stalls.words(kind, subject, WAITS[state], evidence);
    const { waitsFor, before, remedies } = words;
    return {
      ...{ waitsFor, why: text, before, remedies, stalled },
      ...(stalled === null ? { since, usuallyUntil } : { since: stalled.since, usuallyUntil: null }),
    };
  }
}
