import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { recordDone } from '../../access/audit-log.store.js';
import { IdempotencyKeys } from '../../idempotency/idempotency-keys.store.js';
import { Database } from '../../platform/database/database.js';
import { Environment } from '../../platform/env/environment.js';
import { invalidRequest, refuse } from '../../platform/http/validation.js';
import { type FieldError, found, Problem } from '../../platform/problem/problem.js';
import { eventNamesOf, formatSequence } from '../../events/cloud-event.js';
import { sequenceEvents } from '../../events/sequence.sql.js';
import { StallsStore } from '../../stalls/stalls.store.js';
import { readEndpoint } from '../endpoint.sql.js';
import { RedeliveryView, type RedeliveryRequest } from '../log/deliveries.dto.js';
import { WebhookDeliveriesStore } from '../log/deliveries.store.js';
import { newWebhookSecret, WebhookSealing } from '../secrets/sealing.service.js';
import { placesOf, type Health } from '../send/endpoint-health.rules.js';
import { EndpointPlaces } from '../send/endpoint-places.js';
import { WebhookSender } from '../send/sender.service.js';
import { urlFault } from './endpoint-input.js';
import {
  RotatedSecretView,
  WebhookTestView,
  type NewWebhookEndpoint,
  type SecretRotation,
  type WebhookEndpointChange,
} from './endpoints.dto.js';
import { MAX_ENDPOINTS, WebhookEndpointsStore } from './endpoints.store.js';

/** A request in flight ends after 15 s at the latest, usually much earlier. */
const TEST_AGAIN_SECONDS = 5;

/** The type of test events. They are neither in the catalogue nor in the feed, and therefore have no `sequence`. */
export const TEST_TYPE = 'pv.webhook_endpoint.test.v1';

/** Validates and executes requests about endpoints. Throws Problem not_found, or invalid_request with every invalid field. */
@Injectable()
export class WebhookEndpoints {
  constructor(
    private readonly store: WebhookEndpointsStore,
    private readonly deliveries: WebhookDeliveriesStore,
    private readonly idempotencyKeys: IdempotencyKeys,
    private readonly sealing: WebhookSealing,
    private readonly sender: WebhookSender,
    private readonly places: EndpointPlaces,
    private readonly stalls: StallsStore,
    private readonly database: Database,
    private readonly environment: Environment,
  ) {}

  async create(input: NewWebhookEndpoint, actor: string) {
    this.check(input.url);
    const { secret = newWebhookSecret(), ...settings } = normal(input);
    // Assigns sequences to past events, so that they are not delivered. Runs before the transaction, because sequencing commits in steps.
    await sequenceEvents(this.database);
    return this.idempotencyKeys.once(async (tx) => {
      const endpoint = await this.store.create(tx, settings, secret, actor);
      if (endpoint === null)
        throw new Problem('webhook_endpoint_limit', `There are ${MAX_ENDPOINTS} endpoints already`);
      return { ...endpoint, secret };
    });
  }

  rotateSecret(id: string, rotation: SecretRotation, actor: string) {
    return this.idempotencyKeys.once(async (tx) =>
      RotatedSecretView.of(existing(id, await this.store.rotate(tx, id, rotation, actor))),
    );
  }

  async change(id: string, change: WebhookEndpointChange, actor: string) {
    if (change.url !== undefined) this.check(change.url);
    if (change.skipMissed === true && change.enabled !== true)
      refuse([{ field: 'skipMissed', message: 'must be given together with enabled: true' }]);
    if (change.secret !== undefined && change.url === undefined)
      refuse([
        { field: 'secret', message: 'must be given together with url; /rotate-secret replaces it alone' },
      ]);
    const result = existing(id, await this.store.change(id, normal(change), actor));
    if (result === 'was_enabled') {
      const message = 'is allowed only for a disabled endpoint; this one is enabled';
      refuse([{ field: 'skipMissed', message }]);
    }
    if (result === 'other_origin') refuse(missingAtOtherOrigin(change));
    await this.stalls.lookNow('endpoint', id);
    return existing(id, await this.store.find(id));
  }

  /** Sends a test event and returns the outcome, even if the attempt fails. If the attempt succeeds, all waiting retries become due. */
  async test(id: string, actor: string) {
    const row = existing(id, await readEndpoint(this.database, id));
    const destination = this.sealing.openDestination(id, row);
    const timestamp = row.now;
    const eventId = randomUUID();
    // The event must match its schema in WEBHOOK_SCHEMAS.
    const event = {
      specversion: '1.0',
      id: eventId,
      source: this.environment.EVENT_SOURCE,
      type: TEST_TYPE,
      subject: id,
      time: timestamp.toISOString(),
      datacontenttype: 'application/json',
      data: { endpointId: id },
    };
    const message = { id: eventId, body: JSON.stringify(event), timestamp };
    const release = await this.takePlace(id, row);
    const startedAt = performance.now();
    const outcome = await this.sender.send(destination, message).finally(release);
    const durationMs = Math.round(performance.now() - startedAt);
    const { status = null, answer = null, error = null } = outcome;
    const entry = { actor, action: 'webhook_endpoint.tested', target: id, details: { status } };
    await recordDone(this.database, entry);
    const delivered = outcome.kind === 'delivered';
    if (delivered) await this.store.recover(id, destination.url);
    return WebhookTestView.of({ delivered, eventId, status, error, answer, durationMs });
  }

  async redeliver(endpointId: string, request: RedeliveryRequest, actor: string): Promise<RedeliveryView> {
    refuse(redeliveryErrors(request));
    const { deliveryIds, after = '0', until, types = [], onlyFailed = false } = request;
    if (deliveryIds !== undefined) {
      // Converts to lower case, in which PostgreSQL returns UUIDs.
      const ids = deliveryIds.map((id) => id.toLowerCase());
      const foreign = existing(endpointId, await this.deliveries.redeliverThese(endpointId, ids, actor));
      const message = 'is not a delivery of this endpoint';
      refuse(foreign.map((id) => ({ field: `deliveryIds[${ids.indexOf(id)}]`, message })));
      return RedeliveryView.of({ redelivered: new Set(ids).size, next: null });
    }
    const range = { after, until, types: eventNamesOf(types), onlyFailed };
    const result = existing(endpointId, await this.deliveries.redeliverRange(endpointId, range, actor));
    if (!('foreignTypes' in result))
      return RedeliveryView.of({
        redelivered: result.count,
        next: result.next && formatSequence(result.next),
      });
    const message = `must be types of the endpoint; it does not have ${result.foreignTypes.join(', ')}`;
    throw invalidRequest([{ field: 'types', message }]);
  }

  private async takePlace(id: string, health: Pick<Health, 'failures'>): Promise<() => void> {
    const places = placesOf(health);
    const release = await this.places.takeForTest(id, places);
    if (release !== null) return release;
    const most = places === 1 ? '1 request, the most while it fails' : `${places} requests, the most`;
    const detail = `This replica has ${most}, in flight to this endpoint`;
    throw new Problem('too_many_requests', detail, { retryAfterSeconds: TEST_AGAIN_SECONDS });
  }

  private check(url: string): void {
    const message = urlFault(url, this.environment);
    if (message !== undefined) refuse([{ field: 'url', message }]);
  }
}

export const existing = <T>(id: string, result: T | null): T => found(result, `webhook endpoint ${id}`);

/** Normalises types and URL: `http://0x7f.1` is stored as `http://127.0.0.1/`, the address to which webhooks are sent. */
const normal = <T extends WebhookEndpointChange>(input: T): T => ({
  ...input,
  ...(input.url !== undefined && { url: new URL(input.url).href }),
  ...(input.types && { types: eventNamesOf(input.types) }),
});

/** A new receiver must get neither the headers of the previous one nor signatures that the previous one accepts. */
const missingAtOtherOrigin = ({ headers, secret }: WebhookEndpointChange): FieldError[] => {
  const missing = [
    headers === undefined && { field: 'headers', is: '{} for none' },
    secret === undefined && { field: 'secret', is: 'whsec_ and base64 of 24 to 64 bytes' },
  ].filter((each) => each !== false);
  return missing.map(({ field, is }) => ({
    field,
    message: `must be given together with a url of another origin: ${is}`,
  }));
};

function redeliveryErrors({ deliveryIds, ...range }: RedeliveryRequest): FieldError[] {
  const { after, until } = range;
  if (deliveryIds !== undefined)
    return Object.entries(range).flatMap(([field, value]) =>
      value === undefined ? [] : [{ field, message: 'must not be given together with deliveryIds' }],
    );
  if (after === undefined) return [{ field: 'after', message: 'is required if there are no deliveryIds' }];
  return until !== undefined && BigInt(until) <= BigInt(after)
    ? [{ field: 'until', message: 'must be greater than after' }]
    : [];
}
