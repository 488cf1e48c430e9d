import { describe, expect, it } from '@jest/globals';
import { EVENT_NAMES } from './catalogue.rules.js';
import { eventNamesOf, EVENT_TYPES, findEventName, toCloudEvent, toEventType } from './cloud-event.js';

const event = {
  id: 'a3c1d5de-5f0e-4c53-8f29-1f6a6a1a9a11',
  name: 'user.registered',
  subject: '5cf1e1b4-43a2-43f7-a0a8-2b1d2ad4a0f2',
  sequence: '12',
  time: new Date('2026-11-20T09:00:00.123Z'),
  data: {
    userId: '5cf1e1b4-43a2-43f7-a0a8-2b1d2ad4a0f2',
    registrationId: '4a9a7e52-6c0d-4b0c-9f68-6a2d9b8c7d10',
    tenantReference: 'c-1',
    metadata: {},
    gridLocationIds: [],
  },
} as const;

describe('a CloudEvent', () => {
  it('has the attributes of CloudEvents 1.0 and a sequence that sorts as text', () => {
    expect(toCloudEvent(event, '/pv-onboarding/test')).toEqual({
      specversion: '1.0',
      id: event.id,
      source: '/pv-onboarding/test',
      type: 'pv.user.registered.v1',
      subject: event.subject,
      time: '2026-11-20T09:00:00.123Z',
      datacontenttype: 'application/json',
      sequence: '0000000000000000012',
      data: event.data,
    });
  });

  it('has the traceparent of its span, if it has one', () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    expect(toCloudEvent({ ...event, traceparent }, '/x')).toMatchObject({ traceparent });
    expect(JSON.stringify(toCloudEvent({ ...event, traceparent: null }, '/x'))).not.toContain('traceparent');
  });
});

describe('an event type', () => {
  it.each(EVENT_NAMES)('%s is known by its name and by its type', (name) => {
    expect(findEventName(name)).toBe(name);
    expect(findEventName(toEventType(name))).toBe(name);
  });

  it.each([
    '',
    'session',
    'pv.session.online',
    'session.online.v1',
    'pv.session.online.v2',
    'toString',
    'Session.Online',
  ])('%p is not an event type', (text) => expect(findEventName(text)).toBeNull());

  it('is listed once, in the order of the catalogue, whatever the order and the form of the types', () => {
    const given = ['session.lost', 'pv.session.online.v1', 'session.online', 'user.registered'];
    expect(eventNamesOf(given)).toEqual(['user.registered', 'session.online', 'session.lost']);
    expect(eventNamesOf(EVENT_TYPES.toReversed())).toEqual(EVENT_NAMES);
  });
});
