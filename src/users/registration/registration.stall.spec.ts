import { describe, expect, it } from '@jest/globals';
import { textOf } from '../../stalls/cause.rules.js';
import { later } from '../../stalls/look.rules.js';
import {
  REGISTRATION_CAUSES,
  stallOfRegistration,
  type RegistrationFacts,
} from './registration.stall.rules.js';

const NOW = new Date('2026-06-01T12:00:00.000Z');
const MINUTE_MS = 60_000;
const ago = (minutes: number) => later(NOW, -minutes * MINUTE_MS);
const FACTS: RegistrationFacts = {
  status: 'pending',
  createdAt: ago(90),
  updatedAt: ago(5),
  sentAt: ago(6),
  attempts: 2,
  lastError: 'HTTP 503',
  isReplaced: false,
  isServed: true,
};
const lookAt = (facts: Partial<RegistrationFacts>) => stallOfRegistration({ ...FACTS, ...facts }, NOW);
const evidence = { attempts: 2, lastAttemptAt: ago(6).toISOString(), lastError: 'HTTP 503' };
const tooLong = {
  cause: 'pending_too_long',
  since: ago(90),
  evidence: { ...evidence, thresholdSeconds: 3_600 },
};

describe('a registration is stalled', () => {
  it.each<[string, Partial<RegistrationFacts>, object | null]>([
    [
      'while it is uncertain, since it was sent',
      { status: 'uncertain' },
      { cause: 'uncertain', since: ago(6), evidence },
    ],
    [
      'since its creation, if nobody knows when it was sent',
      { status: 'uncertain', sentAt: null },
      { cause: 'uncertain', since: ago(90), evidence: { ...evidence, lastAttemptAt: ago(5).toISOString() } },
    ],
    [
      'although it was never sent, if it may have been before a restore',
      { status: 'uncertain', sentAt: null, attempts: 0 },
      { cause: 'uncertain', since: ago(90), evidence: { ...evidence, attempts: 0, lastAttemptAt: null } },
    ],
    ['once it was rejected', { status: 'rejected' }, { cause: 'rejected', since: ago(5), evidence }],
    ['not if another registration has taken its place', { status: 'rejected', isReplaced: true }, null],
    ['if it was sent in vain for over an hour', {}, tooLong],
    ['from the hour on', { createdAt: ago(60) }, { ...tooLong, since: ago(60) }],
    ['not before the hour', { createdAt: later(ago(60), 1) }, null],
    ['not after a single attempt', { attempts: 1 }, null],
    ['not while the remote service takes none', { isServed: false }, null],
    ['not once it is registered', { status: 'registered' }, null],
    ['not once it is discarded', { status: 'discarded' }, null],
  ])('%s', (_, facts, stall) => {
    expect(lookAt(facts).stall).toEqual(stall);
  });

  it.each<[string, Partial<RegistrationFacts>, Date | null]>([
    ['once the hour is over', { createdAt: ago(20) }, later(NOW, 40 * MINUTE_MS)],
    ['soon, since the trouble of the remote service changes no registration', {}, later(NOW, MINUTE_MS)],
    ['soon at the end of the hour', { createdAt: ago(60) }, later(NOW, MINUTE_MS)],
    ['only after a change, while it was sent once', { attempts: 1 }, null],
    ['only after a change, while it is uncertain', { status: 'uncertain' }, null],
    ['only after a change, once it is registered', { status: 'registered' }, null],
  ])('and is looked at again %s', (_, facts, at) => {
    expect(lookAt(facts).lookAgainAt).toEqual(at);
  });

  it.each(['uncertain', 'rejected', 'pending_too_long'] as const)('and says why: %s', (cause) => {
    expect(textOf(REGISTRATION_CAUSES[cause], { lastError: 'HTTP 503' })).toMatch(/: HTTP 503\.$/);
    expect(textOf(REGISTRATION_CAUSES[cause], { lastError: null })).toMatch(/^[^:]+\w\.$/);
  });
});
