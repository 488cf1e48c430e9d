import { Injectable } from '@nestjs/common';
import { recordAudit } from '../../access/audit-log.store.js';
import { appendEvents } from '../../events/outbox.js';
import type { WantedInvitation } from '../../invitations/invitations.store.js';
import { OUTCOME } from '../../platform/database/connection/patience.js';
import { Database, type Transaction } from '../../platform/database/database.js';
import {
  changeWithoutRefused,
  withoutRefusedRows,
  type ChangeRows,
  type Work,
} from '../../platform/database/refused-rows.js';
import type { RegistrationRequest } from '../../users/registration/registration.rules.js';
import { CONTROLS, type CampaignStatus, type Control } from '../campaign.rules.js';
import { countRows } from '../campaigns.store.js';
import { markRows, NOT_REGISTERED, requestsOf, type LiveRegistration, type TakenRow } from './drain.rules.js';
import * as sql from './drain.sql.js';

/**
 * The most pending registrations of a campaign: enough for several replicas to send without a pause. More would slow down each claim, which
 * reads all that are pending, and each outage would leave more to retry.
 */
const WINDOW = 64;
/** The rows that one statement finds to invite. */
const INVITE_AT_ONCE = 100;

const CONFLICT = JSON.stringify([
  {
    column: null,
    code: 'reference_conflict',
    message: 'This tenantReference is already registered with other EANs',
  },
]);

/** What one call of `advance` found and changed in a campaign. */
interface Advanced {
  readonly status: CampaignStatus;
  readonly invites: boolean;
  readonly adopts: boolean;
  /** The lines that have got a result. */
  readonly settled: readonly number[];
  /** How many rows were given a registration. */
  readonly taken: number;
  /** Whether all rows have a result, and no further row can get one. */
  readonly isDone: boolean;
}

export interface UninvitedRow extends Pick<
  WantedInvitation,
  'gridLocationId' | 'brands' | 'locale' | 'expectedInverters' | 'metadata'
> {
  readonly line: number;
}

@Injectable()
export class DrainStore {
  constructor(private readonly database: Database) {}

  async findDue(): Promise<string[]> {
    return (await this.database.query<{ id: string }>(sql.FIND_DUE)).map(({ id }) => id);
  }

  /** Settles rows whose registration has ended, and takes the next ones. Returns null if the lease is lost. */
  // A row and its registration commit together, before a worker can send the registration.
  async advance(id: string, leaseToken: string, perSecond: number | null): Promise<Advanced | null> {
    const work: Work<Advanced | null> = async (tx, changeRows, spare) => {
      type Locked = Pick<Advanced, 'status' | 'invites' | 'adopts'>;
      const [locked] = await tx.query<Locked>(sql.LOCK_LEASED, [id, leaseToken]);
      if (locked === undefined) return null;
      const { status, invites, adopts } = locked;
      await tx.query(sql.RECORD_RATE, [id, perSecond]);
      const settled = await settle(tx, id, changeRows, spare);
      const taken = status === 'running' && !adopts ? await this.take(tx, id, changeRows, spare) : 0;
      const isDone = settled.length + taken === 0 && status !== 'paused' && !(await hasOpenRows(tx, id));
      return { status, invites, adopts, settled, taken, isDone };
    };
    return withoutRefusedRows(this.database, work, OUTCOME);
  }

  /** Gives the next references their registrations. Returns the number of their rows. */
  async take(tx: Transaction, id: string, changeRows: ChangeRows, spare: number): Promise<number> {
    const rows = await tx.query<TakenRow>(sql.TAKE_NEXT, [id, WINDOW + spare]);
    if (rows.length === 0) return 0;
    const references = new Map<string, { readonly subject: string; readonly rows: TakenRow[] }>();
    for (const row of rows) {
      const reference = references.get(row.tenantReference) ?? { subject: nameOf(id, row.line), rows: [] };
      references.set(row.tenantReference, reference);
      reference.rows.push(row);
    }
    const marked = await changeRows([...references.values()], async (part) => {
      const taken = part.flatMap((reference) => reference.rows);
      const marked = markRows(taken, await insertPending(tx, requestsOf(taken), id));
      const lines = marked.map(({ line }) => line);
      await tx.query(sql.MARK_ROWS, [id, JSON.stringify(marked), lines, CONFLICT]);
      return marked;
    });
    return marked.length;
  }

  /** Ends a campaign that is done, and appends the event. */
  async finish(id: string, leaseToken: string): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      const [finished] = await tx.query<{ name: string | null }>(sql.FINISH, [id, leaseToken]);
      if (finished === undefined) return false;
      const { accepted: _, ...counts } = await countRows(tx, id);
      const data = { campaignId: id, name: finished.name, counts };
      await appendEvents(tx, [{ name: 'campaign.finished', subject: id, data }]);
      return true;
    }, OUTCOME);
  }

  /** Settles the uncertain rows of ended campaigns about which a person has decided. */
  async settleDecided(): Promise<{ id: string; lines: readonly number[] }[]> {
    const decided = await this.database.query<{ id: string; invites: boolean }>(sql.FIND_DECIDED);
    const toInvite: { id: string; lines: readonly number[] }[] = [];
    for (const { id, invites } of decided) {
      const lines = await withoutRefusedRows(this.database, (tx, changeRows, spare) =>
        settle(tx, id, changeRows, spare),
      );
      if (invites) toInvite.push({ id, lines });
    }
    return toInvite;
  }

  findUninvitedOf(id: string, lines: readonly number[]): Promise<UninvitedRow[]> {
    return this.database.query(sql.FIND_UNINVITED_OF, [id, lines]);
  }

  findUninvitedAfter(id: string, line: number): Promise<UninvitedRow[]> {
    return this.database.query(sql.FIND_UNINVITED_AFTER, [id, line, INVITE_AT_ONCE]);
  }

  async setInvitation(id: string, line: number, invitationId: string): Promise<void> {
    await changeWithoutRefused(this.database, [nameOf(id, line)], (tx) =>
      tx.query(sql.SET_INVITATION, [id, line, invitationId]),
    );
  }

  /** Changes the status of a campaign and appends the audit entry. Does nothing if the current status does not allow the action. */
  async control(id: string, control: Control, actor: string): Promise<void> {
    await this.database.transaction(async (tx) => {
      const { from, to } = CONTROLS[control];
      const moved = await tx.query<{ id: string }>(sql.MOVE_CAMPAIGN, [id, to, from]);
      await record(tx, moved, control, actor);
    }, OUTCOME);
  }

  /** Deletes a campaign with its rows, and appends the audit entry. Returns false if it has not ended, or does not exist. */
  async delete(id: string, actor: string): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      if ((await tx.query(sql.DELETE_ENDED, [id])).length === 0) return false;
      await recordAudit(tx, { actor, action: 'campaign.deleted', target: id });
      return true;
    });
  }

  /** Cancels the campaigns that have been paused for this many days. */
  async cancelForgotten(days: number): Promise<void> {
    const forgotten = await this.database.query<{ id: string }>(sql.FIND_FORGOTTEN, [days]);
    const ids = forgotten.map(({ id }) => id);
    const cancel: Work<unknown> = (tx, changeRows) =>
      changeRows(ids, async (part) => {
        const cancelled = await tx.query<{ id: string }>(sql.CANCEL_FORGOTTEN, [days, part]);
        await record(tx, cancelled, 'cancel', 'retention');
        return cancelled;
      });
    if (ids.length > 0) await withoutRefusedRows(this.database, cancel, OUTCOME);
  }
}

/**
 * Inserts the registrations of a campaign; a worker sends them after the commit. Returns the live registrations of the references,
 * earlier ones included. A reference has none if references are unchecked after a restore, or if its registration has just ended.
 */
export async function insertPending(
  tx: Transaction,
  requests: readonly RegistrationRequest[],
  campaignId: string,
): Promise<LiveRegistration[]> {
  await tx.query(sql.INSERT_PENDING, [JSON.stringify(requests), campaignId]);
  return tx.query(sql.FIND_LIVE_OF, [requests.map(({ tenantReference }) => tenantReference)]);
}

/** Records the changed status in the audit log. If the campaigns are to send no more, also takes back what they have not sent. */
async function record(
  tx: Transaction,
  changed: readonly { readonly id: string }[],
  control: Control,
  actor: string,
): Promise<void> {
  const { to } = CONTROLS[control];
  for (const { id } of changed) {
    if (control !== 'resume') await withdraw(tx, id);
    if (control === 'cancel') await tx.query(sql.CANCEL_ROWS, [id]);
    await recordAudit(tx, { actor, action: `campaign.${to === 'running' ? 'resumed' : to}`, target: id });
  }
}

/**
 * Makes the rows `accepted` again whose registration has not been sent, and deletes the registration. Nobody but the campaign knows of it:
 * no event names it, and a request for the same reference would have sent it.
 */
async function withdraw(tx: Transaction, id: string): Promise<void> {
  const idsOf = (rows: readonly { readonly id: string }[]) =>
    rows.map(({ id: registrationId }) => registrationId);
  const sent = idsOf(await tx.query<{ id: string }>(sql.FIND_SENT, [id]));
  const unsent = idsOf(await tx.query<{ id: string }>(sql.LOCK_UNSENT, [id, sent]));
  if (unsent.length === 0) return;
  const released = idsOf(await tx.query<{ id: string }>(sql.RELEASE_ROWS, [id, unsent]));
  await tx.query(sql.DELETE_UNSENT, [released]);
}

/** Gives the rows whose registration has ended their results. Returns their lines. */
async function settle(tx: Transaction, id: string, changeRows: ChangeRows, spare: number): Promise<number[]> {
  const change = (lines: readonly number[] | null) =>
    tx.query<{ line: number }>(sql.SETTLE_ROWS, [id, JSON.stringify(NOT_REGISTERED), lines]);
  // Until PostgreSQL has refused a row, all are changed at once, without their lines.
  if (spare === 0) return (await change(null)).map(({ line }) => line);
  const ended = await tx.query<{ line: number }>(sql.FIND_ENDED, [id]);
  const rows = ended.map(({ line }) => ({ subject: nameOf(id, line), line }));
  const settled = await changeRows(rows, (part) => change(part.map(({ line }) => line)));
  return settled.map(({ line }) => line);
}

/** The name of a row in a log, which must not have its reference. */
const nameOf = (id: string, line: number): string => `campaign ${id}, line ${line}`;

const hasOpenRows = async (tx: Transaction, id: string): Promise<boolean> =>
  (await tx.query(sql.FIND_OPEN_ROW, [id])).length > 0;
