import { SESSION_STATES } from '../../events/event-schemas.rules.js';
import { LAST_SEQUENCE } from '../../events/sequence.dto.js';
import { STALLED_FIELD } from '../../stalls/stalled.view.js';
import * as schema from '../../platform/openapi/schema-of.js';
import type { Metadata } from '../../users/metadata.rules.js';
import type { Basis } from '../rules/machine.rules.js';

export const INVERTER = {
  id: schema.uuid('The remote id, for data and curtailment calls'),
  firstSeenAt: schema.instant(),
  lastSeenAt: schema.instant(),
  missingSince: schema.nullable(
    schema.instant('When its session stopped listing it; null while it is listed'),
  ),
};

class SessionInverterView extends schema.schemaOf(INVERTER) {}

/** A session without its startUrl. */
export const SESSION = {
  id: schema.uuid('The remote sessionId, valid in both systems'),
  userId: schema.uuid(),
  gridLocationId: schema.uuid(),
  tenantReference: schema.nullable(schema.text('null once the user has been erased')),
  brand: schema.nullable(schema.text()),
  metadata: schema.object<Metadata>('As given at the start'),
  state: schema.oneOf(SESSION_STATES),
  basis: schema.oneOf<Basis>(
    ['observed', 'inferred'],
    'Whether the remote service stated it or we inferred it',
  ),
  finished: schema.flag('As in the last response of the remote service'),
  active: schema.flag(),
  expired: schema.nullable(schema.flag('null until the remote service states it')),
  inverters: schema.listOf(SessionInverterView),
  createdAt: schema.instant("The remote service's time"),
  updatedAt: schema.instant("The remote service's time"),
  expiresAt: schema.instant("The remote service's time; the interface does not specify what happens then"),
  checkedAt: schema.instant('When the remote service was last read'),
  stateChangedAt: schema.instant(
    'When we found the state: up to one interval between reads after it changed',
  ),
  onlineAt: schema.nullable(
    schema.instant('When it was first found online, whatever its state is now; null if it never was'),
  ),
  stale: schema.optional(
    schema.flag(
      'Only in the response to a read with `stale=allow`. true: older than `maxAge`, because the remote service could not be read',
    ),
  ),
  nextCheckAt: schema.nullable(schema.instant('When it is read next; null if it is no longer watched')),
  stalled: STALLED_FIELD,
  closedAt: schema.nullable(
    schema.instant(
      'When the watch ended, or the session was settled, after which it is seldom read; else null',
    ),
  ),
  supersededAt: schema.nullable(
    schema.instant('When a newer session of its location and brand took its place; null if none has'),
  ),
  sequence: LAST_SEQUENCE,
};

export class SessionView extends schema.resourceOf('session', {
  ...SESSION,
  startUrl: schema.field<string | null>(
    { type: String, format: 'uri', nullable: true, ...schema.SECRET },
    'Link for the PV owner. Anyone who has it may act for the owner; null without the scope `links:read` or once the web flow is over',
  ),
}) {}
