import { describe, expect, it } from '@jest/globals';
import { textOf } from '../../stalls/cause.rules.js';
import { later } from '../../stalls/look.rules.js';
import { ENDPOINT_CAUSES, stallOfEndpoint, type EndpointFacts } from './endpoint.stall.rules.js';

const NOW = new Date('2026-06-01T12:00:00.000Z');
const MINUTE_MS = 60_000;
const ago = (minutes: number) => later(NOW, -minutes * MINUTE_MS);
const FAILING: EndpointFacts = { disabledAt: null, disabledReason: null, failures: 2, failingSince: ago(15) };
const disabled = (disabledReason: EndpointFacts['disabledReason']) => ({
  disabledAt: ago(3),
  disabledReason,
});
const failing = { cause: 'failing', since: ago(15), evidence: { failures: 2, thresholdSeconds: 900 } };

describe('a webhook endpoint is stalled', () => {
  it.each<[string, Partial<EndpointFacts>, object | null, Date | null]>([
    ['if it fails for a quarter of an hour', {}, failing, later(NOW, 15 * MINUTE_MS)],
    ['not before', { failingSince: later(ago(15), 1) }, null, later(NOW, 1)],
    ['not by one failure', { failures: 1 }, null, null],
    ['not without failures', { failingSince: null }, null, null],
    [
      'if its receiver is gone',
      disabled('gone'),
      { cause: 'gone', since: ago(3), evidence: { failures: 2 } },
      null,
    ],
    [
      'if it was disabled after failures',
      disabled('failing'),
      { cause: 'disabled_after_failures', since: ago(3), evidence: { failures: 2 } },
      null,
    ],
    ['not if a person disabled it', disabled('requested'), null, null],
  ])('%s', (_, facts, stall, lookAgainAt) => {
    expect(stallOfEndpoint({ ...FAILING, ...facts }, NOW)).toEqual({ stall, lookAgainAt });
  });

  it('and says how often it failed, and enables it again', () => {
    expect(textOf(ENDPOINT_CAUSES.failing, { failures: 9 })).toContain('The last 9 attempts');
    const enable = ENDPOINT_CAUSES.gone.remedies.find(({ body }) => body !== undefined);
    expect(enable!.body!({ id: 'endpoint' })).toEqual({ enabled: true });
  });
});
