import { causes, remedy } from '../../stalls/cause.rules.js';
import { inSeconds, later, look, type Look } from '../../stalls/look.rules.js';

const test = remedy('testWebhookEndpoint', 'Send a test event');
const enable = remedy('changeWebhookEndpoint', 'Enable it', { body: () => ({ enabled: true }) });

/** Why a webhook endpoint gets nothing. */
export const ENDPOINT_CAUSES = causes({
  gone: {
    waitsFor: 'tenant',
    urgency: 'soon',
    title: 'The endpoint was disabled, since its receiver responded with 410.',
    before: 'If the receiver is gone for good, delete the endpoint; else repair the receiver.',
    remedies: [test, enable],
  },
  disabled_after_failures: {
    waitsFor: 'tenant',
    urgency: 'now',
    title: 'The endpoint was disabled after nothing but failures for days.',
    before: 'Repair the receiver.',
    remedies: [test, enable],
  },
  failing: {
    waitsFor: 'tenant',
    urgency: 'soon',
    title: 'All attempts to deliver to the endpoint fail.',
    text: ({ failures }) => `The last ${String(failures)} attempts to deliver to the endpoint failed.`,
    before: 'Repair the receiver.',
    remedies: [test],
  },
});

export interface EndpointFacts {
  readonly disabledAt: Date | null;
  readonly disabledReason: 'requested' | 'gone' | 'failing' | null;
  readonly failures: number;
  readonly failingSince: Date | null;
}

/** A single failure between successes passes by itself. */
const FAILURES = 2;
/** How long attempts must have failed: longer than a deployment of the receiver. */
const FAILING_MS = 15 * 60_000;
/** How often the count of the failures is brought up to date. */
const LOOK_AGAIN_MS = 15 * 60_000;

export function stallOfEndpoint(facts: EndpointFacts, now: Date): Look {
  const { disabledAt, disabledReason, failures, failingSince } = facts;
  if (disabledAt !== null) {
    const cause = disabledReason === 'gone' ? 'gone' : 'disabled_after_failures';
    const isRequested = disabledReason === 'requested';
    return look([!isRequested && { cause, since: disabledAt, evidence: { failures } }], now);
  }
  if (failures < FAILURES || failingSince === null) return { stall: null, lookAgainAt: null };
  const evidence = { failures, thresholdSeconds: inSeconds(FAILING_MS) };
  const failing = { cause: 'failing', since: failingSince, from: later(failingSince, FAILING_MS), evidence };
  return look([failing], now, later(now, LOOK_AGAIN_MS));
}
