import { Field } from '../../platform/http/field.js';
import { STALLED_FIELD } from '../../stalls/stalled.view.js';
import * as schema from '../../platform/openapi/schema-of.js';
import { OptionalFlag } from '../../platform/http/parameters.js';
import { AsParsed } from '../../platform/http/validation.js';
import { EVENT_NAMES } from '../../events/catalogue.rules.js';
import { EVENT_TYPES, toEventType } from '../../events/cloud-event.js';
import { typesFault } from '../../events/cloud-event.js';
import { webhookSecretFault } from '../secrets/secret.rules.js';
import { headersFault, MAX_URL_LENGTH } from './endpoint-input.js';

const DAY_SECONDS = 86_400;
/** One week is enough to replace a secret. Until its overlap ends, a leaked secret stays valid. */
const MAX_OVERLAP_SECONDS = 7 * DAY_SECONDS;

const SECRET_FORM = 'Your own secret: `whsec_` and base64 of 24 to 64 bytes.';

const Secret = (description = `${SECRET_FORM} Default: 32 random bytes`): PropertyDecorator =>
  Field({
    ...schema.SECRET,
    description,
    pattern: '^whsec_[A-Za-z0-9+/]+={0,2}$',
    faultOf: webhookSecretFault,
  });

/** Declares an optional list of event types. */
export const TypesField = (description: string): PropertyDecorator =>
  Field({
    enum: EVENT_TYPES,
    enumName: 'WebhookEventType',
    enumSchema: { description: 'The type of an event, or its name' },
    isArray: true,
    maxItems: EVENT_TYPES.length,
    description,
    faultOf: typesFault,
  });

const Url = (given: { required?: true; description: string }): PropertyDecorator =>
  Field({
    format: 'uri',
    maxLength: MAX_URL_LENGTH,
    ...given,
    faultOf: (value) => (typeof value === 'string' ? undefined : 'must be a string'),
  });

class EndpointSettings {
  @TypesField(
    'Event types to send: `pv.session.online.v1`, or `session.online` for short. Empty: all, including future ones. Default for a new endpoint: all',
  )
  types?: string[];

  @Field({ type: String, maxLength: 500, description: 'A note for people' })
  description?: string;

  @AsParsed()
  @Field({
    type: 'object',
    additionalProperties: { type: 'string' },
    ...schema.SECRET,
    description:
      'Sent with every webhook: Authorization, and names that begin with X-; at most 10, each of at most 1,024 printable ASCII ' +
      'characters. Stored encrypted and never returned',
    faultOf: headersFault,
  })
  headers?: Readonly<Record<string, string>>;
}

export class NewWebhookEndpoint extends EndpointSettings {
  @Url({
    required: true,
    description: 'https, or http if the deployment allows it; without user, password and fragment',
  })
  url: string;

  @Secret()
  secret?: string;
}

export class WebhookEndpointChange extends EndpointSettings {
  @Url({
    description:
      'A URL of another origin requires `headers` and `secret`, so that those of the previous receiver are not sent to another',
  })
  url?: string;

  @Secret(
    `${SECRET_FORM} Only together with \`url\`; it replaces all earlier secrets at once. Otherwise, use /rotate-secret`,
  )
  secret?: string;

  @OptionalFlag(
    'false: nothing is sent, but no event is lost. true: sending resumes at the event at which it stopped',
  )
  enabled?: boolean;

  @OptionalFlag(
    'With `enabled: true` on a disabled endpoint: skip the missed events. Pending deliveries become `failed`; /redeliver can send ' +
      'any missed event',
  )
  skipMissed?: boolean;
}

export class SecretRotation {
  @Secret()
  secret?: string;

  @Field({
    type: 'integer',
    minimum: 0,
    maximum: MAX_OVERLAP_SECONDS,
    description: `How long the current secret still signs. 0: it and all previously rotated secrets stop signing at once. Default: ${DAY_SECONDS}`,
  })
  overlapSeconds: number = DAY_SECONDS;
}

const ENDPOINT = {
  id: schema.uuid(),
  url: schema.field<string>({ type: String, format: 'uri' }),
  types: schema.field<string[]>(
    { enum: EVENT_NAMES.map(toEventType), isArray: true },
    'Subscribed event types. Empty: all',
  ),
  description: schema.text(),
  headerNames: schema.texts('The names of the custom headers; their values are never returned'),
  enabled: schema.flag(),
  disabledAt: schema.nullable(schema.instant()),
  disabledReason: schema.nullable(
    schema.oneOf(
      ['requested', 'gone', 'failing'] as const,
      'requested: by a person or app; gone: the receiver responded with 410; failing: every attempt failed for days',
    ),
  ),
  failures: schema.count('Consecutive failed attempts, across all events'),
  failingSince: schema.nullable(schema.instant('Time of the first of these failures')),
  lastDeliveredAt: schema.nullable(schema.instant()),
  previousSecretUntil: schema.nullable(schema.instant('When the last rotated secret stops signing')),
  pending: schema.count('Events to be sent or retried; counted up to 10,000'),
  unread: schema.count('Events of all types after its position in the feed; grows while it is disabled'),
  stalled: STALLED_FIELD,
  createdAt: schema.instant(),
  updatedAt: schema.instant(),
};

export class WebhookEndpointView extends schema.resourceOf('webhook_endpoint', ENDPOINT) {}

export class CreatedWebhookEndpointView extends schema.resourceOf('webhook_endpoint', {
  ...ENDPOINT,
  secret: schema.shownOnce(schema.text('Signs webhooks. It is shown only once')),
}) {}

export class RotatedSecretView extends schema.resourceOf('webhook_secret', {
  secret: schema.shownOnce(schema.text('Signs webhooks from now on. It is shown only once')),
  previousSecretUntil: schema.nullable(
    schema.instant('When the last previous secret stops signing; null if none signs'),
  ),
}) {}

export class WebhookTestView extends schema.resourceOf('webhook_test', {
  delivered: schema.flag('Whether the receiver responded with 2xx'),
  eventId: schema.uuid('Sent as `webhook-id`'),
  status: schema.nullable(schema.count('HTTP status; null if there was no response')),
  error: schema.nullable(schema.text('Why the attempt failed; null if it succeeded')),
  answer: schema.nullable(
    schema.text('The first kilobyte of the response body, with secrets removed; null if there was no body'),
  ),
  durationMs: schema.count('Duration from resolving the name to the end of the response'),
}) {}
