import config from './jest.config.mjs';

// The tests next to their source, which need neither a database nor a process.
export default {
  ...config,
  roots: ['<rootDir>/src', '<rootDir>/sandbox', '<rootDir>/console/src'],
  moduleDirectories: ['node_modules'],
  globalSetup: undefined,
  globalTeardown: undefined,
};
