import { expect, it } from '@jest/globals';
import { nameOf, otherReleasesOf } from './releases.rules.js';

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
