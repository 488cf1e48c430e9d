import { isIPv6, type AddressInfo } from 'node:net';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { Database } from '../platform/database/database.js';
import { Environment } from '../platform/env/environment.js';
import { invalidRequest } from '../platform/http/validation.js';
import { found, Problem } from '../platform/problem/problem.js';
import { upcomingFault } from '../platform/time/instant.rules.js';
import { returnUrlFault, type InvitationConflict } from './invitation.rules.js';
import type { InvitationChange, InvitationMessage, NewInvitation } from './invitations.dto.js';
import { InvitationsStore, type InvitationRow } from './invitations.store.js';
import { OwnerRequestsStore } from './owner/owner-requests.store.js';
import { nextReminderAt, scheduleIn } from './reminders/reminder.rules.js';
import { RemindersStore } from './reminders/reminders.store.js';

@Injectable()
export class InvitationsService implements OnModuleInit {
  private port = 0;

  constructor(
    private readonly store: InvitationsStore,
    private readonly reminders: RemindersStore,
    private readonly requests: OwnerRequestsStore,
    private readonly database: Database,
    private readonly environment: Environment,
    private readonly host: HttpAdapterHost,
  ) {}

  // The server forgets its address when it begins to stop, while requests still get their responses.
  onModuleInit(): void {
    const { server } = this.host.httpAdapter.getInstance<FastifyInstance>();
    server.once('listening', () => (this.port = (server.address() as AddressInfo).port));
  }

  /** Creates an invitation, or returns the existing one. Throws Problem invalid_request or not_found. */
  async invite(input: NewInvitation): Promise<{ invitation: InvitationRow; created: boolean }> {
    this.requireOrigin();
    const { INVITATION_TTL_DAYS } = this.environment;
    const { brands = [], locale = null, expected, metadata = {} } = input;
    const { expiresAt = null, returnUrl = null } = await this.checked(input);
    const gridLocationId = await this.locationOf(input);
    const expectedInverters = expected?.inverters ?? null;
    const wanted = { gridLocationId, brands, locale, expectedInverters, metadata, expiresAt, returnUrl };
    return found(await this.store.create(wanted, INVITATION_TTL_DAYS), `grid location ${gridLocationId}`);
  }

  /** Changes an invitation whose link stays. Throws Problem invalid_request, not_found or invitation_conflict. */
  async change(id: string, input: InvitationChange, actor: string): Promise<void> {
    const { brands, locale, expected } = input;
    const { expiresAt, returnUrl } = await this.checked(input);
    const change = {
      ...{ brands, locale, expiresAt, returnUrl },
      expectedInverters: expected && (expected.inverters ?? null),
    };
    refuseConflict(found(await this.store.change(id, change, actor), `invitation ${id}`));
  }

  /** Announces that the owner should be reminded now. Throws Problem not_found, invitation_conflict or too_many_requests. */
  async remind(id: string, actor: string): Promise<void> {
    const result = found(
      await this.reminders.remindNow(id, scheduleIn(this.environment), actor),
      `invitation ${id}`,
    );
    refuseConflict(result);
    const { retryAfterSeconds } = result;
    if (retryAfterSeconds > 0)
      throw new Problem('too_many_requests', 'The owner was reminded less than an hour ago', {
        retryAfterSeconds,
      });
  }

  async recordMessage(id: string, { status, channel, at }: InvitationMessage, actor: string): Promise<void> {
    const now = await this.database.now();
    const message = { status, channel, at: at === undefined || at > now ? now : at };
    await this.store.recordMessage(id, message, actor);
  }

  /** Records that the owner has withdrawn the consent. Throws Problem invitation_conflict if none was ever given. */
  async withdrawConsent(id: string, actor: string): Promise<void> {
    if ((await this.store.findConsents(id)).length === 0)
      refuseConflict({ conflict: 'The owner has agreed to nothing by this invitation' });
    await this.requests.withdraw(id, actor);
  }

  /** Throws Problem invalid_request if the page must not lead to `returnUrl`, or the invitation cannot last until `expiresAt`. */
  private async checked(input: { readonly expiresAt?: Date; readonly returnUrl?: string | null }) {
    const { INVITATION_RETURN_ORIGINS = [], NODE_ENV } = this.environment;
    const { expiresAt } = input;
    refuse('expiresAt', expiresAt && upcomingFault(expiresAt, await this.database.now()));
    const returnUrl = input.returnUrl && new URL(input.returnUrl);
    refuse(
      'returnUrl',
      returnUrl && returnUrlFault(returnUrl, INVITATION_RETURN_ORIGINS, NODE_ENV === 'production'),
    );
    // The URL as it was checked: a browser may read the text that was sent as another URL.
    return { expiresAt, returnUrl: returnUrl ? returnUrl.href : input.returnUrl };
  }

  nextReminderAt = (invitation: InvitationRow): Date | null =>
    nextReminderAt(invitation, scheduleIn(this.environment), invitation.now);

  /** Returns the link for the owner, or null if no key decrypts it any more or the user has been erased. */
  urlOf(invitation: InvitationRow): string | null {
    const token = this.store.tokenOf(invitation);
    return token && `${this.origin()}/i/${token}`;
  }

  /** Returns the page on which owners enter a code. */
  get codePage(): string {
    return `${this.origin()}/i`;
  }

  /**
   * Returns the links of these invitations by their ids. Omits the invitations of erased users. A link is null if no key decrypts it any
   * more.
   */
  async urlsOf(ids: readonly string[]): Promise<ReadonlyMap<string, string | null>> {
    const invitations = ids.length === 0 ? [] : await this.store.findMany(ids);
    return new Map(invitations.map((each) => [each.id, this.urlOf(each)]));
  }

  /** Throws Problem invalid_request if no owner could reach the page of an invitation: in production, its address must be configured. */
  requireOrigin(): void {
    const { NODE_ENV, PUBLIC_URL } = this.environment;
    if (NODE_ENV === 'production' && PUBLIC_URL === undefined)
      throw new Problem(
        'invalid_request',
        'Nobody can be invited until PUBLIC_URL is set: in production, it is the address under which owners reach this service',
      );
  }

  private async locationOf({ gridLocationId, tenantReference }: NewInvitation): Promise<string> {
    if ((gridLocationId === undefined) === (tenantReference === undefined))
      refuse('gridLocationId', 'or `tenantReference` must be given, and not both');
    const locations = await this.store.findLocations({ gridLocationId, tenantReference });
    if (locations.length > 1)
      refuse('tenantReference', `has ${locations.length} grid locations: give \`gridLocationId\``);
    return found(
      locations[0],
      gridLocationId ? `grid location ${gridLocationId}` : `user with the reference ${tenantReference}`,
    );
  }

  /** Returns the address under which owners reach us. Default: the address at which this process listens. */
  private origin(): string {
    const { PUBLIC_URL, HOST } = this.environment;
    return PUBLIC_URL ?? `http://${isIPv6(HOST) ? `[${HOST}]` : HOST}:${this.port}`;
  }
}

function refuse(field: string, fault: string | null | undefined): void {
  if (fault) throw invalidRequest([{ field, message: fault }]);
}

function refuseConflict({ conflict }: InvitationConflict): void {
  if (conflict !== null) throw new Problem('invitation_conflict', conflict);
}
