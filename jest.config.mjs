import { spawnSync } from 'node:child_process';
import vm from 'node:vm';
import { swcOptions } from './test/setup/compile/swc-options.mjs';

// Nest consists of ES modules. Jest loads ES modules only if Node has a flag that Jest's configuration cannot set. If the flag is missing, as
// with a plain `npx jest`, this starts Node again with the flag.
if (!('SourceTextModule' in vm)) {
  const flags = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
  const { status } = spawnSync(process.execPath, [...flags, ...process.argv.slice(1)], { stdio: 'inherit' });
  process.exit(status ?? 1);
}

export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/src', '<rootDir>/sandbox', '<rootDir>/console/src', '<rootDir>/test'],
  testMatch: ['**/*.spec.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  // The global setup fills this folder with bundled packages, which load much faster.
  moduleDirectories: ['<rootDir>/node_modules/.cache/test-build/node_modules', 'node_modules'],
  moduleNameMapper: {
    '^(\\.{1,2}/.*)\\.js$': '$1',
    '^#client/(.*)\\.js$': '<rootDir>/clients/typescript/src/$1',
  },
  transform: { '^.+\\.ts$': ['@swc/jest', { ...swcOptions, swcrc: false }] },
  globalSetup: '<rootDir>/test/setup/global-setup.mjs',
  globalTeardown: '<rootDir>/test/setup/global-teardown.mjs',
  collectCoverageFrom: ['src/**/*.ts', 'sandbox/**/*.ts', '!src/platform/database/generated/**'],
  // Tests wait about as long as they compute, so three workers keep two cores busy.
  maxWorkers: 3,
  // Only a hang takes this long, even on a busy machine.
  testTimeout: 180_000,
};
