import { NODE_FLAGS } from './test/setup/node-flags.mjs';

/** The mutation tests of what decides by its arguments alone: `npm run test:mutations`. */
export default {
  packageManager: 'npm',
  plugins: ['@stryker-mutator/jest-runner'],
  testRunner: 'jest',
  testRunnerNodeArgs: NODE_FLAGS,
  jest: { configFile: 'jest.units.config.mjs' },
  coverageAnalysis: 'perTest',
  mutate: ['src/**/*.rules.ts', 'console/src/{rules,format}/*.ts', '!**/*.spec.ts', '!**/*.example.ts'],
  ignorePatterns: ['.data', 'bench', 'coverage', 'dist'],
  // Most strings are messages for people. A test that repeats them shows nothing; the others are members of types that the compiler checks.
  mutator: { excludedMutations: ['StringLiteral'] },
  // A mutant of a constant of a module needs all tests of the module, in a new process each time: a fifth of the mutants would take most of the time.
  ignoreStatic: true,
  tempDirName: 'coverage/sandbox',
  reporters: ['clear-text', 'json'],
  clearTextReporter: { logTests: false, reportTests: false, allowColor: false },
  jsonReporter: { fileName: 'coverage/mutations.json' },
  thresholds: { high: 95, low: 90, break: 90 },
  concurrency: 2,
};
