import * as schema from '../platform/openapi/schema-of.js';
import { STALLED_FIELD } from '../stalls/stalled.view.js';
import type { Metadata } from '../users/metadata.rules.js';
import { LOCALES } from '../platform/env/locale.rules.js';
import { DECLINE_REASONS, INVITATION_STATES } from './invitation.rules.js';

class ExpectedView extends schema.schemaOf({
  inverters: schema.nullable(schema.count('null if not given')),
}) {}

/** An invitation without its link. */
export const INVITATION = {
  id: schema.uuid('Not part of the link'),
  state: schema.oneOf(INVITATION_STATES, '`owner_done` is inferred'),
  gridLocationId: schema.uuid('The grid location whose owner is invited'),
  userId: schema.uuid('The user of the grid location'),
  tenantReference: schema.text('That of the user'),
  brands: schema.texts('In the order in which the owner is asked'),
  locale: schema.nullable(
    schema.oneOf(LOCALES, "Language of the owner's page; null: the language of the browser"),
  ),
  expected: schema.view(ExpectedView, 'What the tenant expects at the location'),
  metadata: schema.object<Metadata>('As given'),
  returnUrl: schema.nullable(
    schema.text('Where the page leads once the invitation is online, expired or revoked; null: nowhere'),
  ),
  campaignId: schema.nullable(schema.uuid('null if it was created by itself')),
  openedAt: schema.nullable(schema.instant('When a person first opened the page')),
  startedAt: schema.nullable(schema.instant("When the owner's wish first led to a session")),
  ownerDoneAt: schema.nullable(schema.instant('When the owner had probably completed the web flow')),
  onlineAt: schema.nullable(schema.instant('When the location was first online with each of the brands')),
  disconnectedAt: schema.nullable(
    schema.instant(
      'When all inverters of a session went missing after the location was online, so that the link leads to a new connection; null if it is online, or never was',
    ),
  ),
  expiresAt: schema.instant('From then on the owner cannot begin; one who has begun may finish'),
  revokedAt: schema.nullable(schema.instant('When `DELETE` revoked it')),
  declinedAt: schema.nullable(
    schema.instant('When the owner declined, or withdrew the consent; null if never, or if it is taken back'),
  ),
  declineReason: schema.nullable(schema.oneOf(DECLINE_REASONS, 'Why; null if not given')),
  consentWithdrawnAt: schema.nullable(
    schema.instant('When the owner withdrew the consent; null if it stands, or none was given'),
  ),
  renewalRequestedAt: schema.nullable(
    schema.instant('When the person with the link last asked for a new one, because it no longer works'),
  ),
  createdAt: schema.instant('When the owner was invited'),
  stalled: STALLED_FIELD,
};

export class InvitationView extends schema.resourceOf('invitation', {
  ...INVITATION,
  remindedAt: schema.nullable(schema.instant('When the owner was last to be reminded; null if never')),
  nextReminderAt: schema.nullable(
    schema.instant(
      'When the next reminder of the schedule is due, if nothing changes; null if none is planned',
    ),
  ),
  url: schema.field<string | null>(
    { type: String, format: 'uri', nullable: true, ...schema.SECRET },
    'The link for the owner. Anyone who has it may act for the owner; null without the scope `links:read`',
  ),
}) {}

export class InvitationCodeView extends schema.resourceOf('invitation_code', {
  code: schema.shownOnce(
    schema.text('Eight letters, which lead to the link once. It is shown only once; only its hash is stored'),
  ),
  expiresAt: schema.instant('From then on it leads nowhere'),
  enterAt: schema.field<string>({ type: String, format: 'uri' }, 'The page on which the owner enters it'),
}) {}

export class InvitationLinkView extends schema.resourceOf('invitation_link', {
  url: schema.field<string>(
    { type: String, format: 'uri', ...schema.SECRET },
    'The link for the owner. Anyone who has it may act for the owner',
  ),
  state: schema.oneOf(INVITATION_STATES, 'That of the invitation, for which its page serves'),
  expiresAt: INVITATION.expiresAt,
}) {}
