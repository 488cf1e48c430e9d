import { Injectable } from '@nestjs/common';
import { recordAudit } from '../../access/audit-log.store.js';
import { OUTCOME } from '../../platform/database/connection/patience.js';
import { Database, type Transaction } from '../../platform/database/database.js';
import { withdrawConsents } from '../consents.sql.js';
import { announceAs } from '../invitation-events.store.js';
import type { DeclineReason } from '../invitation.rules.js';
import * as sql from '../invitations.sql.js';
import { InvitationsStore, open, type WantedInvitation } from '../invitations.store.js';
import { RENEWAL_COUNTS_MS } from './owner-page.rules.js';

type Renewed = Omit<WantedInvitation, 'expiresAt'> & { readonly isRevokedSince: boolean };

/** What an owner says on the page, other than a click: I do not want this, or I need a new link. */
@Injectable()
export class OwnerRequestsStore {
  constructor(
    private readonly database: Database,
    private readonly invitations: InvitationsStore,
  ) {}

  /**
   * Records that the owner declines, if the invitation is live. The first time counts, with its reason. An owner who hands the link on has
   * withdrawn no consent.
   */
  async decline(id: string, reason: DeclineReason | null): Promise<void> {
    await this.database.transaction(async (tx) => {
      await open(tx, id);
      if ((await decline(tx, id, reason)) && reason !== 'login_elsewhere')
        await withdrawConsents(tx, id, 'owner');
    }, OUTCOME);
  }

  /**
   * Records that the owner withdraws the consent to the access of the location, if one stands, by whichever invitation it was given: on the
   * page, or as the `actor` was told. A live invitation is declined by that. One that has ended keeps its state.
   */
  async withdraw(id: string, actor: string | null): Promise<void> {
    await this.database.transaction(async (tx) => {
      for (const { id: each } of await tx.query<{ id: string }>(sql.LOCK_CONSENTED, [id])) {
        if (!(await withdrawConsents(tx, each, actor === null ? 'owner' : 'tenant'))) continue;
        if (!(await decline(tx, each, null))) await tx.query(sql.WITHDRAW_ENDED, [each]);
        if (actor !== null) await recordAudit(tx, { actor, action: 'consent.withdrawn', target: each });
      }
    }, OUTCOME);
  }

  /**
   * Records that a person with a link that no longer works asks for a new one, at most once a day. With `auto`, creates an invitation like
   * the old one, unless the tenant has revoked a later one of the location.
   */
  async requestRenewal(id: string, mode: 'ask' | 'auto', defaultDays: number): Promise<void> {
    await this.database.transaction(async (tx) => {
      await tx.query(sql.LOCK_USER, [id]);
      const [requested] = await tx.query<Renewed>(sql.REQUEST_RENEWAL, [id, RENEWAL_COUNTS_MS]);
      if (requested === undefined) return;
      const { isRevokedSince, ...wanted } = requested;
      const isAutomatic = mode === 'auto' && !isRevokedSince;
      const renewed = isAutomatic
        ? await this.invitations.createIn(tx, { ...wanted, expiresAt: null }, defaultDays)
        : null;
      const newInvitationId = renewed?.created ? renewed.invitation.id : null;
      await announceAs(tx, [id], (facts) => ({
        name: 'invitation.renewal_requested',
        subject: id,
        data: { ...facts, newInvitationId },
      }));
    }, OUTCOME);
  }
}

/** Records that the owner declines, if the invitation is live. Returns whether it was. */
async function decline(tx: Transaction, id: string, reason: DeclineReason | null): Promise<boolean> {
  if ((await tx.query(sql.DECLINE, [id, reason])).length === 0) return false;
  await announceAs(tx, [id], (facts) => ({
    name: 'invitation.declined',
    subject: id,
    data: { ...facts, reason },
  }));
  return true;
}
