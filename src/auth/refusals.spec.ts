import { describe, expect, it } from '@jest/globals';
import type { RemoteRequest } from '../remote/outcome.rules.js';
import { Refusals } from './refusals.js';

const read = (session: string, path = 'onboarding/pv'): RemoteRequest => ({
  operation: 'read_session',
  method: 'GET',
  path: `/api/v1/ssa/${path}/${session}`,
});
const register = (reference: string): RemoteRequest => ({
  operation: 'register_user',
  method: 'POST',
  path: '/api/v1/ssa/users',
  body: reference,
});
const SESSIONS = ['a', 'b', 'c', 'd', 'e', 'f'];

/** Refuses each read, one every `everyMs`. Returns what the last refusal is about. */
const refuseReads = (refusals: Refusals, everyMs: number, sessions = SESSIONS) =>
  sessions.map((session, nth) => refusals.recordRefused(read(session), 100_000 + nth * everyMs)).at(-1);

describe('a refusal', () => {
  it.each([
    [1, 19_999, { isOfFew: true, hasLasted: false }],
    [20, 20_000, { isOfFew: true, hasLasted: true }],
    [21, 20_000, { isOfFew: false, hasLasted: true }],
  ])('is one of %i in a row, which has taken %i ms: %j', (count, forMs, row) => {
    const refusals = new Refusals();
    for (let nth = 0; nth < count; nth++) refusals.recordRefused(read(String(nth)), 100_000);
    expect(refusals.rowOf('read_session', 100_000 + forMs)).toEqual(row);
  });

  it('is about the credentials once five different sessions in a row were refused for two seconds', () => {
    expect(refuseReads(new Refusals(), 500)).toBe('all');
    expect(refuseReads(new Refusals(), 500, SESSIONS.slice(2))).toBe('unknown');
  });

  it('is not about the credentials when sessions that are due together are read at once', () => {
    expect(refuseReads(new Refusals(), 10)).toBe('unknown');
  });

  it('is not about the credentials when one session is refused again and again, by either path', () => {
    const refusals = new Refusals();
    const paths = ['onboarding/pv', 'users/u/pv/onboarding-sessions'];
    for (let nth = 0; nth < 20; nth++)
      expect(refusals.recordRefused(read('a', paths[nth % 2]), nth * 1_000)).toBe('unknown');
  });

  it('is not about the credentials when another session is served in between', () => {
    const refusals = new Refusals();
    for (let nth = 0; nth < 20; nth++) {
      expect(refusals.recordRefused(read(SESSIONS[nth % 6]!), nth * 1_000)).not.toBe('all');
      if (nth % 3 === 0) refusals.recordServed(read('good'), nth * 1_000);
    }
  });

  it('of a registration is about the credentials at once after five different ones', () => {
    const refusals = new Refusals();
    const about = SESSIONS.map((reference) => refusals.recordRefused(register(reference), 0));
    expect(about).toEqual(['unknown', 'unknown', 'unknown', 'unknown', 'all', 'all']);
    expect(refusals.recordRefused(read('a'), 0)).toBe('unknown');
    refusals.recordServed(register('g'), 0);
    expect(SESSIONS.filter((reference) => refusals.isOdd(register(reference)))).toEqual([]);
  });

  it('of exactly five calls is about the credentials until one of the five is served', () => {
    const refusals = new Refusals();
    for (const reference of SESSIONS.slice(1)) refusals.recordRefused(register(reference), 0);
    refusals.recordServed(register('b'), 0);
    expect(SESSIONS.filter((reference) => refusals.isOdd(register(reference)))).toEqual([]);
  });

  it('is about the call if others were served since its last refusal, each time anew', () => {
    const refusals = new Refusals();
    expect(refusals.recordRefused(read('a'), 0)).toBe('unknown');
    expect(refusals.isOdd(read('a'))).toBe(false);
    refusals.recordServed(read('b'), 0);
    expect(refusals.isOdd(read('a'))).toBe(true);
    expect(refusals.recordRefused(read('a'), 0)).toBe('call');
    expect(refusals.recordRefused(read('a'), 0)).toBe('unknown');
    refusals.recordServed(read('b'), 0);
    refusals.recordServed(read('a'), 0);
    expect(refusals.isOdd(read('a'))).toBe(false);
  });

  it('is about the call for at most 10,000 calls, which limits the memory', () => {
    const refusals = new Refusals();
    for (let nth = 0; nth <= 10_000; nth++) {
      refusals.recordRefused(read(String(nth)), 0);
      refusals.recordServed(read('good'), 0);
    }
    expect(['9999', '10000'].map((nth) => refusals.isOdd(read(nth)))).toEqual([true, false]);
  });

  it('is not about a call that was served since, or that was refused with all others', () => {
    const refusals = new Refusals();
    refusals.recordRefused(read('a'), 0);
    refusals.recordServed(read('a'), 0);
    refusals.recordServed(read('b'), 0);
    expect(refusals.isOdd(read('a'))).toBe(false);
    refuseReads(refusals, 500);
    refusals.recordServed(read('good'), 103_000);
    expect(SESSIONS.filter((session) => refusals.isOdd(read(session)))).toEqual([]);
    // The next row begins with its own first refusal.
    expect(SESSIONS.map((session) => refusals.recordRefused(read(session), 160_000)).at(-1)).toBe('unknown');
  });

  it('is about all calls only with others of its kind, and about a call that is odd among missing ones', () => {
    const refusals = new Refusals();
    expect(refusals.recordRefused(read('a'), 0, 'missing')).toBe('unknown');
    refusals.recordServed(read('good'), 0);
    for (const session of SESSIONS.slice(1)) refusals.recordRefused(read(session), 0, 'missing');
    expect(refusals.recordRefused(read('g'), 30_000, 'refused')).toBe('unknown');
    expect(refusals.recordRefused(read('a'), 30_000, 'missing')).toBe('call');
    expect(refusals.recordRefused(read('a'), 30_000, 'missing')).toBe('all');
  });

  it.each([
    [60_000, 8],
    [120_000, 5],
  ])(
    'of a POST each %i ms, while others are served, is final after %i more, until it is served',
    (everyMs, more) => {
      const refusals = new Refusals();
      const at = (nth: number) => 10_000_000 + nth * everyMs;
      for (let nth = 0; nth <= more; nth++) {
        refusals.recordRefused(register('a'), at(nth));
        refusals.recordServed(register('good'), at(nth));
        expect([nth, refusals.isLasting(register('a'), at(nth))]).toEqual([nth, nth === more]);
      }
      refusals.recordServed(register('a'), at(more));
      expect(refusals.isLasting(register('a'), at(more))).toBe(false);
    },
  );
});
