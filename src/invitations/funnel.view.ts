import * as schema from '../platform/openapi/schema-of.js';

const seconds = (what: string) => schema.nullable(schema.number(what));

export class FunnelView extends schema.resourceOf('funnel_row', {
  key: schema.nullable(
    schema.text('The day in UTC, the brand or the campaign; null for invitations without brand or campaign'),
  ),
  invited: schema.count('Invitations created in the period, whatever became of them'),
  sent: schema.count('Of these, sent to the owner, as `POST /invitations/{id}/messages` has said'),
  opened: schema.count('Of these, opened by a person'),
  started: schema.count('Whose owner began the web flow'),
  ownerDone: schema.count('Whose owner had probably completed it'),
  online: schema.count('That are online with each of their brands'),
  expired: schema.count('Whose date passed before the owner was done'),
  declined: schema.count('That the owner has declined, and not taken that back'),
  failedStarts: schema.count(
    'Starts of sessions in the period that failed, with or without an invitation; by brand, those of this brand',
  ),
  medianSecondsToOnline: seconds(
    'Median from the invitation to online, without owners who were done before it; null without any',
  ),
  p95SecondsToOnline: seconds('The time within which 95 % of these came online; null without any'),
  medianSecondsFromDone: seconds('The same from the owner being done to online: the median'),
  p95SecondsFromDone: seconds('The time within which 95 % of these came online then'),
}) {}

export class FunnelPage extends schema.schemaOf({ items: schema.listOf(FunnelView) }) {}
