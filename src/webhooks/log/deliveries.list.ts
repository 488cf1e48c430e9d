import { ChoiceParameter, UuidParameter } from '../../platform/http/parameters.js';
import * as by from '../../platform/list/filters.js';
import { List } from '../../platform/list/list.js';
import { DELIVERY_STATUSES } from './deliveries.dto.js';

export const DELIVERY_COLUMNS = `
  delivery.id, delivery.endpoint_id AS "endpointId", event.id AS "eventId", event.name, event.sequence, delivery.position,
  delivery.subject, delivery.status, delivery.attempts, (
    SELECT due_at FROM webhook_subjects AS queued
    WHERE delivery.status = 'pending' AND queued.endpoint_id = delivery.endpoint_id AND queued.subject = delivery.subject
      AND NOT EXISTS (
        SELECT FROM webhook_deliveries AS earlier
        WHERE earlier.endpoint_id = delivery.endpoint_id AND earlier.subject = delivery.subject
          AND earlier.status = 'pending' AND earlier.position < delivery.position)
  ) AS "nextAttemptAt",
  delivery.last_attempt_at AS "lastAttemptAt", delivery.last_status AS "lastStatus", delivery.last_error AS "lastError",
  delivery.last_answer AS "lastAnswer", delivery.created_at AS "createdAt"`;

export const DELIVERIES = new List({
  name: 'deliveries',
  // Reads endpoint by endpoint to use the index by endpoint and time.
  select: (page, order) => `
  SELECT ${DELIVERY_COLUMNS}
  FROM webhook_endpoints AS endpoint
  CROSS JOIN LATERAL (SELECT * FROM webhook_deliveries AS delivery ${page}) AS delivery
  JOIN domain_events AS event ON event.position = delivery.position
  WHERE endpoint.handler IS NULL ${order}`,
  where: 'delivery.endpoint_id = endpoint.id',
  order: {
    createdAt: ['delivery.created_at', 'instant'],
    position: ['delivery.position', 'integer'],
    endpointId: ['delivery.endpoint_id', 'uuid'],
  },
  descending: true,
  filters: {
    endpointId: by.uuid('endpoint.id'),
    status: by.choice('delivery.status', DELIVERY_STATUSES),
    tried: by.parameter<'true' | 'false'>(
      ChoiceParameter(['true', 'false'], 'Only deliveries with an attempt, or only those without'),
      // In the words of the index of those with an attempt.
      (tried) => [[tried === 'true' ? 'delivery.attempts > 0' : 'delivery.attempts = 0']],
    ),
    eventId: by.parameter<string>(
      UuidParameter('The `id` of the event, which is the `webhook-id`'),
      'delivery.position = (SELECT position FROM domain_events WHERE id = ?)',
    ),
    subject: by.text('delivery.subject = ?', {
      description: 'Only events about this subject, such as the id of a session or user',
      maxLength: 200,
    }),
    since: by.since('delivery.created_at', 'Only deliveries created at or after this instant'),
  },
});

export class DeliveriesQuery extends DELIVERIES.Query {}
