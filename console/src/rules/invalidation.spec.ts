import { expect, it } from '@jest/globals';
import { changedBy } from './invalidation.js';

it.each([
  ['pv.user.registration_uncertain.v1', 'registrations'],
  ['pv.stall.raised.v1', 'sessions'],
  ['pv.stall.cleared.v1', 'stalled'],
  ['pv.inverter.missing.v1', 'timeline'],
  ['pv.invitation.opened.v1', 'funnel'],
  ['pv.campaign.finished.v1', 'campaigns'],
  ['pv.webhook_endpoint.disabled.v1', 'webhooks'],
  ['pv.remote.contract_drift.v1', 'drift'],
  ['pv.something.new.v1', 'status'],
])('%s changes %s', (type, subject) => expect(changedBy(type)).toContain(subject));
