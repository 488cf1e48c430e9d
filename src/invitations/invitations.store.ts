import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { actingKey, requireActing } from '../access/acting-caller.js';
import { recordAudit } from '../access/audit-log.store.js';
import { Cipher } from '../platform/crypto/cipher.js';
import { OUTCOME } from '../platform/database/connection/patience.js';
import { Database, type Sql, type Transaction } from '../platform/database/database.js';
import {
  changeWithoutRefused,
  withoutRefusedRows,
  type ChangeRows,
} from '../platform/database/refused-rows.js';
import { Environment } from '../platform/env/environment.js';
import type { Page } from '../platform/http/page.js';
import { Problem } from '../platform/problem/problem.js';
import type { StallViews, StoredStall } from '../stalls/stall-views.service.js';
import type { Metadata } from '../users/metadata.rules.js';
import { FIND_CONSENTS, giveConsent, type GivenConsent } from './consents.sql.js';
import { announce } from './invitation-events.store.js';
import {
  changeConflict,
  OTHER_IS_LIVE,
  type Channel,
  type InvitationConflict,
  type InvitationFacts,
  type LockedInvitation,
} from './invitation.rules.js';
import type { InvitationView } from './invitation.view.js';
import { INVITATIONS, type InvitationsQuery } from './invitations.list.js';
import * as sql from './invitations.sql.js';
import type { ConsentText } from './owner/owner-texts.service.js';
import type { Step } from './owner/owner-page.rules.js';

/** 256 bits: nobody finds a link by guessing. */
const TOKEN_BYTES = 32;
/** The forms in which the link is given, other than as text. */
export type LinkForm = 'qr' | 'code';

export interface LinkReader {
  readonly actor: string;
  /** The most links that the caller may read within an hour. Null: there is no limit. */
  readonly limit: number | null;
}

const LINK_READ = 'invitation.link_read';
const LINK_RETRY_SECONDS = 600;
/** The most invitations whose expiry one transaction records. */
const EXPIRE_AT_ONCE = 200;

/** An invitation as the API returns it, with its token still encrypted. */
export interface InvitationRow
  extends
    InvitationFacts,
    Omit<InvitationView, 'object' | 'url' | 'expected' | 'stalled' | 'nextReminderAt'> {
  readonly wishBrand: string | null;
  readonly remindersSent: number;
  readonly expectedInverters: number | null;
  readonly tokenCiphertext: Buffer | null;
  readonly stalled: StoredStall | null;
  /** The database's clock when the row was read. */
  readonly now: Date;
}

type Wanted = 'gridLocationId' | 'brands' | 'expectedInverters' | 'metadata' | 'returnUrl';

export interface WantedInvitation extends Pick<InvitationRow, Wanted> {
  readonly locale: string | null;
  readonly expiresAt: Date | null;
  /** The campaign that invites. Default: none. */
  readonly campaignId?: string;
}

/** What is undefined stays. */
export type ChangedInvitation = {
  readonly [Name in 'expiresAt' | 'locale' | 'brands' | 'returnUrl' | 'expectedInverters']:
    InvitationRow[Name] | undefined;
};

export interface SentMessage {
  readonly status: 'sent' | 'bounced';
  readonly channel: Channel;
  readonly at: Date;
}

/** What the replicas know from their own starts and reads. */
export interface Outages {
  /** Whether the remote service takes starts. */
  readonly isServed: boolean;
  readonly failingBrands: readonly string[];
}

export interface ClaimedWish {
  readonly id: string;
  readonly gridLocationId: string;
  readonly brand: string | null;
  readonly metadata: Metadata;
}

const hashOf = (token: string): Buffer<ArrayBuffer> => createHash('sha256').update(token).digest();

@Injectable()
export class InvitationsStore {
  constructor(
    private readonly database: Database,
    private readonly cipher: Cipher,
    private readonly environment: Environment,
  ) {}

  /** Finds the location with this id, or the locations of the user with this reference. Returns their ids. */
  async findLocations(where: { gridLocationId?: string; tenantReference?: string }): Promise<string[]> {
    const values = [where.gridLocationId ?? null, where.tenantReference ?? null, null];
    const found = await this.database.query<{ gridLocationId: string }>(sql.FIND_LOCATIONS, values);
    return found.map(({ gridLocationId }) => gridLocationId);
  }

  /**
   * Creates an invitation. If the location has a live invitation, or one that has ended online, returns that invitation. Returns null if
   * the user has been erased meanwhile.
   */
  async create(wanted: WantedInvitation, defaultDays: number) {
    const { gridLocationId } = wanted;
    return this.database.transaction(async (tx) => {
      const locations = await tx.query(sql.FIND_LOCATIONS, [gridLocationId, null, actingKey()]);
      if (locations.length > 0) return this.createIn(tx, wanted, defaultDays);
      await requireActing(tx);
      return null;
    }, OUTCOME);
  }

  /** Creates an invitation of a location whose user is locked. Otherwise like `create`. */
  async createIn(tx: Transaction, wanted: WantedInvitation, defaultDays: number) {
    const { gridLocationId } = wanted;
    const id = randomUUID();
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    await this.recordProgressOf(tx, [gridLocationId]);
    await expire(tx, gridLocationId, 1);
    const [online] = await tx.query<InvitationRow>(sql.FIND_ONLINE, [gridLocationId, wanted.brands]);
    if (online !== undefined) return { invitation: online, created: false };
    const inserted = await tx.query(sql.INSERT_INVITATION, [
      id,
      gridLocationId,
      hashOf(token),
      this.cipher.encrypt(token, sql.INVITATION_TOKENS.context(id)),
      wanted.brands,
      wanted.locale,
      wanted.expectedInverters,
      JSON.stringify(wanted.metadata),
      wanted.returnUrl,
      wanted.expiresAt,
      defaultDays,
      wanted.campaignId,
    ]);
    const created = inserted.length > 0;
    if (created) {
      await announce(tx, 'invitation.created', [id]);
      // The location may already be online.
      await this.recordProgressOf(tx, [gridLocationId]);
    }
    const [invitation] = created
      ? await tx.query<InvitationRow>(`${sql.SELECT_INVITATION} WHERE i.id = $1`, [id])
      : await tx.query<InvitationRow>(sql.FIND_LIVE, [gridLocationId]);
    return invitation ? { invitation, created } : null;
  }

  async find(id: string): Promise<InvitationRow | null> {
    return (await this.findMany([id]))[0] ?? null;
  }

  async findMany(ids: readonly string[]): Promise<InvitationRow[]> {
    const text = `${sql.SELECT_INVITATION} WHERE i.id = ANY ($1::uuid[]) AND i.erased_at IS NULL`;
    return this.database.query<InvitationRow>(text, [ids]);
  }

  /** Returns the invitation whose link has this token, also of an erased user. */
  async findByToken(token: string): Promise<InvitationRow | null> {
    const text = `${sql.SELECT_INVITATION} WHERE i.token_hash = $1`;
    return (await this.database.query<InvitationRow>(text, [hashOf(token)]))[0] ?? null;
  }

  list(query: InvitationsQuery): Promise<Page<InvitationRow>> {
    return INVITATIONS.page(this.database, query);
  }

  /** Returns the token of the link, or null if no key decrypts it or the user has been erased. */
  tokenOf({ id, tokenCiphertext }: Pick<InvitationRow, 'id' | 'tokenCiphertext'>): string | null {
    return tokenCiphertext && this.cipher.tryDecrypt(tokenCiphertext, sql.INVITATION_TOKENS.context(id));
  }

  async findOutages(): Promise<Outages> {
    return (await this.database.query<Outages>(sql.FIND_OUTAGES))[0]!;
  }

  findSteps(id: string): Promise<Step[]> {
    return this.database.query(sql.FIND_STEPS, [id]);
  }

  /** Records that a person has opened the page, if nobody has before. */
  async open(id: string): Promise<void> {
    await this.database.transaction((tx) => open(tx, id), OUTCOME);
  }

  /** Revokes the invitation, if it has not ended, or if its owner has withdrawn the consent. */
  async revoke(id: string, actor: string): Promise<void> {
    await this.database.transaction(async (tx) => {
      await tx.query(sql.LOCK_INVITATION, [id]);
      const revoked = await tx.query(sql.REVOKE, [id]);
      if (revoked.length === 0) return;
      await announce(tx, 'invitation.revoked', [id]);
      await recordAudit(tx, { actor, action: 'invitation.revoked', target: id });
    }, OUTCOME);
  }

  /** Changes what is given, unless a rule says why not. Returns null if there is no such invitation. */
  async change(id: string, change: ChangedInvitation, actor: string): Promise<InvitationConflict | null> {
    const { expiresAt, locale, brands, returnUrl, expectedInverters } = change;
    const given = [expiresAt, locale, brands, returnUrl, expectedInverters];
    return this.database.transaction(async (tx) => {
      await tx.query(sql.LOCK_USER, [id]);
      const [locked] = await tx.query<LockedInvitation & { gridLocationId: string }>(sql.LOCK_INVITATION, [
        id,
      ]);
      if (locked === undefined) return null;
      const conflict = changeConflict(locked, expiresAt !== undefined);
      if (conflict !== null) return { conflict };
      const values = given.flatMap((value) => [value !== undefined, value ?? null]);
      const changed = await tx.query(sql.CHANGE, [id, ...values]);
      if (changed.length === 0) return { conflict: OTHER_IS_LIVE };
      // The owner may have done all for the brands that are wanted now.
      await this.recordProgressOf(tx, [locked.gridLocationId]);
      const names = Object.entries(change).flatMap(([name, value]) => (value === undefined ? [] : [name]));
      const details = { changed: names, ...(expiresAt && { expiresAt }) };
      await recordAudit(tx, { actor, action: 'invitation.changed', target: id, details });
      return { conflict };
    }, OUTCOME);
  }

  /** Records what the tenant's mailer says of a message with the link, if there is such an invitation. */
  async recordMessage(id: string, { status, channel, at }: SentMessage, actor: string): Promise<void> {
    const isBounced = status === 'bounced';
    const values = isBounced ? [id, null, at, channel] : [id, at, null, null];
    return this.database.transaction(async (tx) => {
      if ((await tx.query(sql.RECORD_MESSAGE, values)).length === 0) return;
      const action = isBounced ? 'invitation.bounced' : 'invitation.sent';
      await recordAudit(tx, { actor, action, target: id, details: { channel } });
    }, OUTCOME);
  }

  /** Records that a caller reads a link, in the form `as`. Throws Problem too_many_requests. */
  async recordLinkRead(id: string, reader: LinkReader, as?: LinkForm): Promise<void> {
    await this.database.transaction((tx) => recordLinkRead(tx, id, reader, as));
  }

  /**
   * Records the owner's wish to start, and the consent to this text, before the start, and takes back that the owner has declined. Returns
   * false if nothing is to be started: the invitation is over. If it is online, a withdrawn consent is given again.
   */
  async wish(id: string, brand: string | null, dueInMs: number, consent: ConsentText): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      let isTakenBack = false;
      if ((await tx.query(sql.FIND_DECLINED, [id])).length > 0) {
        await tx.query(sql.LOCK_USER, [id]);
        isTakenBack = (await tx.query(sql.TAKE_BACK, [id])).length > 0;
      }
      await open(tx, id);
      const isWished = (await tx.query(sql.WISH, [id, brand, dueInMs])).length > 0;
      // An owner who has declined may have handed the link on, so the click may be that of another person.
      if (isWished || (await tx.query(sql.AGREE_AGAIN, [id])).length > 0)
        await giveConsent(tx, id, brand, consent, isTakenBack);
      return isWished;
    }, OUTCOME);
  }

  /** Returns what the owner has agreed to, the newest first. */
  findConsents(id: string): Promise<GivenConsent[]> {
    return this.database.query(FIND_CONSENTS, [id]);
  }

  claimWishes(limit: number, forMs: number): Promise<ClaimedWish[]> {
    return withoutRefusedRows(this.database, async (tx, changeRows, spare) => {
      const ids = idsOf(await tx.query(sql.LOCK_WISHES, [limit + spare]));
      if (ids.length === 0) return [];
      return changeRows(ids, (part) => tx.query<ClaimedWish>(sql.CLAIM_WISHES, [part, forMs]), limit);
    });
  }

  /** Records that the wish has led to a session, and whether its owner had to wait for a repetition of the start. The state of the session may already have changed again. */
  async fulfil({ id, brand, gridLocationId }: ClaimedWish, hasWaited: boolean): Promise<void> {
    await this.database.transaction(async (tx) => {
      await tx.query(sql.FULFIL_WISH, [id, brand, hasWaited]);
      await this.recordProgressOf(tx, [gridLocationId]);
    }, OUTCOME);
  }

  async retryWish({ id }: ClaimedWish, afterMs: number): Promise<void> {
    await this.database.query(sql.RETRY_WISH, [id, afterMs]);
  }

  async dropWish({ id, brand }: ClaimedWish): Promise<void> {
    await this.database.query(sql.DROP_WISH, [id, brand]);
  }

  /** Updates live invitations by the sessions that have changed since `since`; null: for the first time. Returns the time of the database before the update. */
  async recordProgress(since: Date | null): Promise<Date> {
    const [clock] = await this.database.query<{ now: Date }>('SELECT now() AS now');
    const changed = await this.database.query<{ gridLocationId: string }>(sql.FIND_CHANGED, [since]);
    const ids = changed.map(({ gridLocationId }) => gridLocationId);
    const record = (on: Sql, part: readonly string[]) => this.recordProgressOf(on, part);
    if (ids.length > 0) await changeWithoutRefused(this.database, ids, record);
    return clock!.now;
  }

  /** Updates the invitations of these locations by the current states of the sessions. May be repeated. */
  private recordProgressOf(on: Sql, gridLocationIds: readonly string[]): Promise<object[]> {
    return on.query(sql.RECORD_PROGRESS, [gridLocationIds, this.environment.INVITATION_TTL_DAYS]);
  }

  /** Records and announces the invitations that have expired. Returns whether there may be more. */
  async expireOverdue(): Promise<boolean> {
    const expireSome = (tx: Transaction, changeRows: ChangeRows, spare: number) =>
      expire(tx, null, EXPIRE_AT_ONCE + spare, changeRows);
    return withoutRefusedRows(this.database, expireSome, OUTCOME);
  }
}

/** Returns an invitation as the API shows it, without its link. */
export function withoutLink(
  row: InvitationRow,
  stalls: StallViews,
): Omit<InvitationView, 'object' | 'url' | 'remindedAt' | 'nextReminderAt'> {
  const { tokenCiphertext: _, expectedInverters, now: _now, ...facts } = row;
  const { wishDueAt, wishBrand, wishedAt, wishFailedAt, awaits, awaitsSince, erasedAt, isReplaced, ...told } =
    facts;
  const { remindersSent, remindedAt, bouncedAt, recoveredAt, ...invitation } = told;
  const stalled = stalls.view('invitation', row, row.stalled);
  return { ...invitation, expected: { inverters: expectedInverters }, stalled };
}

/** Records that a caller reads a link. Throws Problem too_many_requests, or unauthenticated if the caller may no longer act. */
export async function recordLinkRead(
  tx: Transaction,
  id: string,
  { actor, limit }: LinkReader,
  as?: LinkForm,
): Promise<void> {
  if (limit !== null) {
    await tx.query(sql.LOCK_LINK_READER, [actor]);
    const read = await tx.query(sql.FIND_LINK_READS, [actor, LINK_READ, limit]);
    if (read.length === limit)
      throw new Problem('too_many_requests', `This key may read ${limit} links an hour`, {
        retryAfterSeconds: LINK_RETRY_SECONDS,
      });
  }
  await recordAudit(tx, { actor, action: LINK_READ, target: id, ...(as && { details: { as } }) });
}

export async function open(tx: Transaction, id: string): Promise<void> {
  const opened = await tx.query(sql.OPEN, [id]);
  if (opened.length > 0) await announce(tx, 'invitation.opened', [id]);
}

async function expire(
  tx: Transaction,
  gridLocationId: string | null,
  limit: number,
  changeRows: ChangeRows = (keys, change) => change(keys),
): Promise<boolean> {
  const overdue = idsOf(await tx.query(sql.LOCK_OVERDUE, [gridLocationId, limit]));
  if (overdue.length === 0) return false;
  const expired = await changeRows(overdue, (part) => tx.query<{ id: string }>(sql.EXPIRE, [part]));
  await announce(tx, 'invitation.expired', idsOf(expired));
  return overdue.length === limit && expired.length > 0;
}

const idsOf = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id);
