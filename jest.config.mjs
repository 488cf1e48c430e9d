import { spawnSync } from 'node:child_process';
import vm from 'node:vm';
import { NODE_FLAGS } from './test/setup/node-flags.mjs';
import { swcOptions } from './test/setup/compile/swc-options.mjs';

// Jest's configuration cannot set flags of Node. If they are missing, as with a plain `npx jest`, this starts Node again with them.
if (!('SourceTextModule' in vm)) {
  const { status } = spawnSync(process.execPath, [...NODE_FLAGS, ...process.argv.slice(1)], {
    stdio: 'inherit',
  });
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
