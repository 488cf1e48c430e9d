import { SESSION_STATES } from '../../events/event-schemas.rules.js';
import { LAST_SEQUENCE } from '../../events/feed/events.dto.js';
import {
  field,
  flag,
  instant,
  listOf,
  nullable,
  oneOf,
  optional,
  text,
  uuid,
  schemaOf,
} from '../../platform/openapi/schema-of.js';
import type { Metadata } from '../../users/metadata.rules.js';
import type { Basis } from '../rules/machine.rules.js';

const INVERTER = {
  id: uuid('The remote id, for data and curtailment calls'),
  firstSeenAt: instant(),
  lastSeenAt: instant(),
  missingSince: nullable(instant('When its session stopped listing it; null while it is listed')),
};

const SessionInverterView = schemaOf('SessionInverterView', INVERTER);

export const InverterView = schemaOf('InverterView', {
  ...INVERTER,
  sessionId: uuid('The session that lists it, or listed it last'),
  userId: uuid(),
  gridLocationId: uuid(),
  brand: nullable(text()),
});
export type InverterView = InstanceType<typeof InverterView>;

export const SessionView = schemaOf('SessionView', {
  id: uuid('The remote sessionId, valid in both systems'),
  userId: uuid(),
  gridLocationId: uuid(),
  tenantReference: nullable(text('null once the user has been erased')),
  brand: nullable(text()),
  metadata: field<Metadata>({ type: 'object', additionalProperties: true }, 'As given at the start'),
  state: oneOf(SESSION_STATES),
  basis: oneOf<Basis>(['observed', 'inferred'], 'Whether the remote service stated it or we inferred it'),
  finished: flag('As in the last response of the remote service'),
  active: flag(),
  expired: nullable(flag('null until the remote service states it')),
  startUrl: field<string | null>(
    { type: String, format: 'uri', nullable: true },
    'Link for the PV owner. Anyone who has it may act for the owner; null without the scope `onboarding:write` or once the web flow is over',
  ),
  inverters: listOf(SessionInverterView),
  createdAt: instant("The remote service's time"),
  updatedAt: instant("The remote service's time"),
  expiresAt: instant("The remote service's time; the interface does not specify what happens then"),
  checkedAt: instant('When the remote service was last read'),
  stale: optional(
    flag(
      'Only in the response to a read with `stale=allow`. true: older than `maxAge`, because the remote service could not be read',
    ),
  ),
  nextCheckAt: nullable(instant('When it is read next; null if it is no longer watched')),
  closedAt: nullable(instant('When the watch ended; null while it is watched')),
  sequence: LAST_SEQUENCE,
});
export type SessionView = InstanceType<typeof SessionView>;
