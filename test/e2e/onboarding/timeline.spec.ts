import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { TimelineEntryView } from '../../../src/onboarding/api/timeline.view.js';
import type { Page } from '../../../src/platform/http/page.js';
import { TestClient } from '../../setup/client.js';
import { newEan } from '../../setup/ean.js';
import { useTestApp } from '../../setup/test-app.js';

const service = useTestApp({ ROLE: 'api' });
const client = TestClient.of(service);

describe('the timeline of a session', () => {
  it('has everything that happened, with causes before effects, page by page', async () => {
    const { id } = await client.startNew();
    await service.sandbox!.control.online(id, { inverters: 1 });
    await client.call('POST', `/onboarding/pv/${id}/refresh`);
    const { body } = await client.call<Page<TimelineEntryView>>('GET', `/onboarding/pv/${id}/timeline`);
    expect(body.items.map(({ kind }) => kind)).toEqual([
      'start',
      'observation',
      'transition',
      'event',
      'observation',
      'transition',
      'event',
      'event',
    ]);
    expect(body.items[5]).toMatchObject({
      summary: 'awaiting_owner -> online (observed, by the rule finished_with_inverters)',
      details: { fromState: 'awaiting_owner', toState: 'online', basis: 'observed' },
    });
    const paged: TimelineEntryView[] = [];
    for (let next: string | null = ''; next !== null;) {
      const path = `/onboarding/pv/${id}/timeline?limit=3${next && `&cursor=${next}`}`;
      const page: Page<TimelineEntryView> = (await client.call<Page<TimelineEntryView>>('GET', path)).body;
      paged.push(...page.items);
      ({ next } = page);
    }
    expect(paged).toEqual(body.items);
    expect((await client.call('GET', `/onboarding/pv/${randomUUID()}/timeline`)).status).toBe(404);
  });
});

describe('what is stuck', () => {
  it('is listed with what a person does next, by kind', async () => {
    await service.sandbox!.control.addFault({
      kind: 'reset',
      operation: 'register_user',
      times: 1,
    });
    const tenantReference = 'stuck-customer';
    await client.call('POST', '/users', { tenantReference, gridLocations: [{ ean: newEan() }] });
    const stuck = (query = '') => client.call<Page<object>>('GET', `/stuck${query}`);
    const expected = { kind: 'registration', tenantReference, reason: 'its outcome is unknown' };
    expect((await stuck()).body.items).toMatchObject([{ ...expected, whatToDo: expect.any(String) }]);
    expect((await stuck('?kind=session')).body).toEqual({ items: [], next: null });
    expect((await stuck('?kind=user')).status).toBe(400);
    const { items } = (await stuck()).body as Page<{ id: string }>;
    expect((await stuck(`?id=${items[0]!.id}`)).body.items).toEqual(items);
    expect((await stuck(`?id=${randomUUID()}`)).body.items).toEqual([]);
    const { kind, reason } = expected;
    expect((await stuck('/groups')).body).toEqual({
      items: [{ kind, reason, count: 1, new: 1, oldest: items }],
    });
  });
});
