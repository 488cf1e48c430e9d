import { Injectable } from '@nestjs/common';
import { SESSION_STATES } from '../../events/event-schemas.rules.js';
import { Metrics } from '../../observability/metrics/metrics.js';
import { SessionsStore } from './sessions.store.js';

@Injectable()
export class TransitionMetrics {
  constructor(sessions: SessionsStore, metrics: Metrics) {
    const changes = metrics.counter({
      name: 'pv_onboarding_session_transitions_total',
      help: 'Changes of sessions that this process recorded, by the new state',
      labels: ['state'],
    });
    for (const state of SESSION_STATES) changes.inc({ state }, 0);
    sessions.measure((state) => changes.inc({ state }));
  }
}
