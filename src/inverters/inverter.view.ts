import { INVERTER } from '../onboarding/api/sessions.view.js';
import * as schema from '../platform/openapi/schema-of.js';

export class InverterView extends schema.resourceOf('inverter', {
  ...INVERTER,
  sessionId: schema.uuid('The session that lists it, or listed it last'),
  userId: schema.uuid(),
  gridLocationId: schema.uuid(),
  brand: schema.nullable(schema.text()),
}) {}
