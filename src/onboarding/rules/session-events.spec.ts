import { describe, expect, it } from '@jest/globals';
import { NOW, ONLINE } from '../../../test/setup/session-record.js';
import { changeEvents, erasedEvent, factsOf, startedEvent } from './session-events.rules.js';

describe('the events of a session', () => {
  const facts = {
    sessionId: 's',
    userId: 'u',
    gridLocationId: 'g',
    tenantReference: 'customer-1',
    brand: 'acme',
    metadata: { campaign: 7 },
    state: 'online',
    previousState: null,
    basis: 'observed',
    rule: 'finished_with_inverters',
    inverters: [],
    invertersTotal: 0,
    observedAt: NOW.toISOString(),
  } as const;

  it('say all about its start, and nothing of the customer after an erasure', () => {
    expect(startedEvent(ONLINE, NOW)).toEqual({ name: 'session.started', subject: 's', data: facts });
    const erased = { ...facts, previousState: 'online', tenantReference: null, metadata: {} };
    expect(erasedEvent(ONLINE, NOW)).toEqual({
      name: 'session.closed',
      subject: 's',
      data: { ...erased, reason: 'erased' },
    });
  });

  it('say why it is closed', () => {
    const close = { transition: null, listed: [], missing: [], close: 'settled', isReopened: false } as const;
    expect(changeEvents(facts, close)).toEqual([
      { name: 'session.closed', subject: 's', data: { ...facts, reason: 'settled' } },
    ]);
  });

  it('name at most 100 inverters, and count all', () => {
    const inverters = Array.from({ length: 101 }, (_, index) => `inverter-${index}`);
    expect(factsOf(ONLINE, ONLINE, null, inverters, NOW)).toMatchObject({
      inverters: inverters.slice(0, 100),
      invertersTotal: 101,
    });
  });
});
