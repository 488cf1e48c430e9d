import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SESSION_STATES } from '../../../src/events/event-schemas.rules.js';
import { listOf, sessionBody, type ReadAnswer } from '../../faults/support/network/scripted-remote.js';
import { startScriptedService, type ScriptedService } from '../../faults/support/network/scripted-service.js';
import type { EventAnswer, SessionAnswer } from '../../setup/client.js';

type States = Readonly<Record<string, string>>;

const NAMES: readonly string[] = SESSION_STATES;

/** Mirrors sessions as a reader of the feed that uses only the types and subjects of events. */
function mirror(events: readonly EventAnswer[]): States {
  const mirrored: Record<string, string> = {};
  for (const { type, subject } of events) {
    const name = /^pv\.session\.(\w+)\.v1$/.exec(type)?.[1];
    if (name === 'started') mirrored[subject] = 'awaiting_owner';
    else if (name !== undefined && NAMES.includes(name)) mirrored[subject] = name;
  }
  return mirrored;
}

/** Responses that bring a session into each state. */
const RESPONSES: Readonly<Record<string, (sessionId: string) => ReadAnswer>> = {
  awaiting_owner: (id) => ({ body: sessionBody(id) }),
  awaiting_installation: (id) => ({ body: sessionBody(id, { updatedAt: '2026-11-20T11:00:00+01:00' }) }),
  expired: (id) => ({ body: sessionBody(id, { active: false, expired: true }) }),
  lost: () => ({ status: 404, body: '{}' }),
  unrecognised: (id) => ({ body: sessionBody(id, { active: false }) }),
  online: (id) => ({ body: sessionBody(id, { finished: true, active: false, inverters: listOf(1) }) }),
};

describe('a reader that mirrors sessions from the feed alone', () => {
  let service: ScriptedService;
  let events: readonly EventAnswer[];
  let listed: States;

  beforeAll(async () => {
    // No poller runs: only the test reads sessions.
    service = await startScriptedService({ ROLE: 'api' });
    for (const state of Object.keys(RESPONSES)) {
      await sessionWith(state);
      await sessionWith(state, 'awaiting_owner');
    }
    await sessionWith('lost', 'awaiting_owner', 'unrecognised', 'awaiting_owner', 'expired');
    const { client } = service;
    events = await client.events();
    const { body } = await client.call<{ items: SessionAnswer[] }>('GET', '/onboarding/pv?limit=200');
    listed = Object.fromEntries(body.items.map(({ id, state }) => [id, state]));
  });
  afterAll(() => service.close());

  /** Starts a session and makes it pass through `states`. No transition leaves `online`. */
  async function sessionWith(...states: readonly string[]): Promise<void> {
    const { remote, client } = service;
    let { id, state } = await client.startNew();
    for (const next of states) {
      remote.script(id, () => RESPONSES[next]!(id));
      while (state !== next && state !== 'online') {
        await client.call('POST', `/onboarding/pv/${id}/refresh`);
        ({ id, state } = await client.session(id));
      }
    }
  }

  it('has all of them, with the state that the API returns', () => {
    expect(mirror(events)).toEqual(listed);
    expect(new Set(Object.values(listed))).toEqual(new Set(NAMES));
    const last = new Map(events.map(({ subject, data }) => [subject, data.state]));
    for (const [id, state] of Object.entries(listed)) expect(last.get(id)).toBe(state);
  });
});
