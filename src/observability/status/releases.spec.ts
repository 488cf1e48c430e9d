import { describe, expect, it } from '@jest/globals';
import { lastingReleasesOf, nameOf, otherReleasesOf } from './releases.rules.js';

const BUILD = { version: '0.1.0', commit: 'a'.repeat(40), newestMigration: '20261120000000_tables' };

it.each([
  ['a live process with another commit', { commit: 'b'.repeat(40) }, 1],
  ['a live process with another version', { version: '0.2.0' }, 1],
  ['a live process with another newest migration', { newestMigration: '20261120000100_comments' }, 1],
  ['a live process that reports nothing', { version: null, commit: null, newestMigration: null }, 1],
  ['a live process that does not know its commit', { commit: null }, 0],
  ['a live process of the same release', {}, 0],
  ['a process that ended', { version: '0.2.0', isAlive: false }, 0],
] as const)('%s', (_, values, count) => {
  expect(otherReleasesOf([{ name: 'a:1', isAlive: true, ...BUILD, ...values }], BUILD)).toHaveLength(count);
});

it('names a release by version, commit and newest migration', () => {
  expect(nameOf(BUILD)).toBe('0.1.0 (commit aaaaaaaaaaaa, migration 20261120000000_tables)');
  expect(nameOf({ version: null, commit: null, newestMigration: null })).toMatch('does not report');
});

describe('releases that last', () => {
  const minutesAgo = (minutes: number) => new Date(Date.UTC(2026, 10, 22, 12) - minutes * 60_000);
  const old = { name: 'a:1', isAlive: true, startedAt: minutesAgo(600), lastSeenAt: minutesAgo(0), ...BUILD };
  const other = { ...old, name: 'b:1', version: '0.2.0' };

  it.each([
    ['two releases for 16 minutes', [old, { ...other, startedAt: minutesAgo(16) }], 2],
    ['two releases during a rollout', [old, { ...other, startedAt: minutesAgo(14) }], 1],
    ['two releases, one of which ended', [old, { ...other, isAlive: false }], 1],
    ['three processes of two releases', [old, other, { ...other, name: 'c:1' }], 2],
    ['a process that does not know its commit', [old, { ...old, name: 'b:1', commit: null }], 1],
    ['no live process', [{ ...old, isAlive: false }], 0],
  ] as const)('%s', (_, replicas, count) => {
    expect(lastingReleasesOf(replicas)).toHaveLength(count);
  });
});
