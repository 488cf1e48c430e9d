import { Injectable } from '@nestjs/common';
import { Metrics } from '../platform/metrics/metrics.js';
import { isObjectLike, type Sent } from './outcome.rules.js';
import { Remote } from './remote.service.js';
import { outcomeOf, UnreadableResponse } from './wire/read-response.js';

@Injectable()
export class RemoteMetrics {
  constructor(remote: Remote, metrics: Metrics) {
    const labels = ['operation', 'outcome'] as const;
    const calls = metrics.counter({
      name: 'pv_onboarding_remote_calls_total',
      help: 'Remote calls of this process, each attempt once, by operation (probe: the base probe) and outcome. With outcome breaker_open, wait_requested, limiter_timeout and stopping, nothing was sent',
      labels,
    });
    const seconds = metrics.histogram({
      name: 'pv_onboarding_remote_call_duration_seconds',
      help: 'Duration of the sent remote calls of this process, without the wait for their turn',
      labels,
    });
    remote.measure((operation, sent, duration) => {
      const outcome = outcomeName(sent);
      calls.inc({ operation, outcome });
      if (duration !== null) seconds.observe({ operation, outcome }, duration);
    });
    metrics.gauge({
      name: 'pv_onboarding_remote_calls_in_flight',
      help: 'Remote calls of this process that are in flight, without token requests',
      collect: (gauge) => gauge.set(remote.status().inFlight),
    });
    metrics.gauge({
      name: 'pv_onboarding_remote_calls_limit',
      help: 'Remote calls of this process that may be in flight at once now',
      collect: (gauge) => gauge.set(remote.status().limit.current),
    });
    metrics.gauge({
      name: 'pv_onboarding_remote_calls_limit_ceiling',
      help: 'SCS_MAX_CONCURRENCY, above which the limit does not grow',
      collect: (gauge) => gauge.set(remote.status().limit.ceiling),
    });
    metrics.gauge({
      name: 'pv_onboarding_remote_calls_queued',
      help: 'Remote calls of this process that wait for their turn, by priority',
      labels: ['priority'],
      collect: (gauge) => {
        for (const [priority, count] of Object.entries(remote.status().queued))
          gauge.set({ priority }, count);
      },
    });
    metrics.gauge({
      name: 'pv_onboarding_remote_breaker_state',
      help: '1 for the state of the circuit breaker of this process, 0 for the other states, by operation',
      labels: ['operation', 'state'],
      collect: (gauge) => {
        for (const [operation, { breaker }] of Object.entries(remote.status().operations))
          for (const state of ['closed', 'open', 'half_open'])
            gauge.set({ operation, state }, breaker === state ? 1 : 0);
      },
    });
    metrics.gauge({
      name: 'pv_onboarding_remote_held_back',
      help: '1 for who holds back the calls of this process now, 0 for the others, by operation: the remote service (Retry-After), the breaker, or our ceiling (SCS_MAX_REQUESTS_PER_SECOND)',
      labels: ['operation', 'by'],
      collect: (gauge) => {
        for (const [operation, { heldBackBy }] of Object.entries(remote.status().operations))
          for (const by of ['remote_service', 'breaker', 'ceiling'])
            gauge.set({ operation, by }, heldBackBy === by ? 1 : 0);
      },
    });
    metrics.gauge({
      name: 'pv_onboarding_remote_last_success_timestamp_seconds',
      help: 'When the remote service last served a call of this process, by operation; absent before the first time',
      labels: ['operation'],
      collect: (gauge) => {
        for (const [operation, { lastSuccessAt }] of Object.entries(remote.status().operations))
          if (lastSuccessAt !== null) gauge.set({ operation }, lastSuccessAt.getTime() / 1_000);
      },
    });
  }
}

/** Returns the kind of the outcome, or the reason if it is `not_sent`. */
function outcomeName(sent: Sent): string {
  const outcome = outcomeOf(sent, ({ body, isPassed }) => {
    if (isPassed !== true && !isObjectLike(body)) throw new UnreadableResponse('the body is not an object');
  });
  if (outcome.kind === 'rejected' && [401, 403].includes(outcome.status)) return 'credentials_rejected';
  return outcome.kind === 'not_sent' ? outcome.reason : outcome.kind;
}
