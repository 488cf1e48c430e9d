import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { packageFaults, type LockedPackage, type Manifest } from '../../scripts/check/package-faults.js';

const readJson = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'));
const manifest = readJson('package.json') as Manifest;
const { packages } = readJson('package-lock.json') as { packages: Record<string, LockedPackage> };

describe('the check of the packages', () => {
  it('finds nothing in package.json and package-lock.json', () => {
    expect(packageFaults(manifest, packages)).toEqual([]);
  });

  it.each<[what: string, path: string, change: LockedPackage, fault: RegExp]>([
    ['without a hash', 'fastify', { integrity: undefined! }, /^node_modules\/fastify has no "integrity"/],
    ['with a weak hash', 'fastify', { integrity: 'sha1-3q2+7w==' }, /has no "integrity" of sha512/],
    ['without its URL', 'fastify', { resolved: undefined! }, /has no "resolved"/],
    ['of another version', 'fastify', { version: '1.2.3' }, /fastify is .* in package.json and 1\.2\.3 in/],
    ['with a new install script', 'fastify', { hasInstallScript: true }, /has an install script/],
    ['with a licence that binds us', 'fastify', { license: 'GPL-3.0-only' }, /the licence GPL-3.0-only/],
    [
      'with one of two such licences',
      'fastify',
      { license: 'MIT AND GPL-2.0' },
      /the licence MIT AND GPL-2.0/,
    ],
    ['of a tool, in the service', 'fastify', { license: 'MPL-2.0' }, /the licence MPL-2.0/],
    ['without a licence', 'fastify', { license: undefined! }, /names no licence/],
    [
      'for a newer Node',
      'fastify',
      { engines: { node: '>=22' } },
      /asks for Node >=22, and we promise 20\.19\.0/,
    ],
    [
      'without those of other platforms',
      '@swc/core',
      { optionalDependencies: { '@swc/core-beos': '1' } },
      /on another platform/,
    ],
  ])('finds a package %s', (_, name, change, fault) => {
    const path = `node_modules/${name}`;
    const faults = packageFaults(manifest, { ...packages, [path]: { ...packages[path], ...change } });
    expect(faults).toEqual([expect.stringMatching(fault)]);
  });

  it('accepts a choice of which one licence is allowed', () => {
    const fastify = { ...packages['node_modules/fastify'], license: '(GPL-3.0-only OR MIT)' };
    expect(packageFaults(manifest, { ...packages, 'node_modules/fastify': fastify })).toEqual([]);
  });

  it('tells when a package of the list for a newer Node is not installed any more', () => {
    const { 'node_modules/@prisma/streams-local': _, ...others } = packages;
    expect(packageFaults(manifest, others)).toEqual([expect.stringMatching(/remove it from NEWER_NODE/)]);
  });
});
