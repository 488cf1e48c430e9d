import tseslint from 'typescript-eslint';

const ENVIRONMENT_READERS = [
  'src/main.ts',
  'src/cli/main.ts',
  'src/sandbox/main.ts',
  'src/platform/local/**',
  'test/**',
  'bench/**',
  'scripts/**',
  'prisma.config.ts',
];

export default tseslint.config(
  {
    ignores: [
      'dist/**',
      'coverage/**',
      'node_modules/**',
      'src/platform/database/generated/**',
      '**/*.{mjs,cjs}',
    ],
  },
  ...tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: 'error', noInlineConfig: true },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/ban-ts-comment': [
        'error',
        { 'ts-expect-error': true, 'ts-ignore': true, 'ts-nocheck': true },
      ],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { allowDefaultCaseForExhaustiveSwitch: false, considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/no-unused-vars': ['error', { ignoreRestSiblings: true }],
      // Framework hooks and ports are async by their interface, whether this one waits for something or not.
      '@typescript-eslint/require-await': 'off',
      // Interfaces are written in method style here; whether such a method uses `this` the rule cannot see.
      '@typescript-eslint/unbound-method': 'off',
      // Never consistent-type-imports: Nest injects by the class that is imported as a value.
      eqeqeq: 'error',
      'no-console': 'error',
      'no-restricted-properties': [
        'error',
        {
          object: 'process',
          property: 'env',
          message: 'The environment is read once, at the start; inject Environment.',
        },
      ],
      'no-restricted-syntax': [
        'error',
        { selector: 'TSEnumDeclaration', message: 'Use a union of words: it needs no code and no mapping.' },
        { selector: 'ExportAllDeclaration', message: 'Import from the file that defines it.' },
      ],
    },
  },
  { files: ENVIRONMENT_READERS, rules: { 'no-restricted-properties': 'off' } },
  {
    // What a person reads on a terminal; a running service logs.
    files: [
      'src/main.ts',
      'src/start-service.ts',
      'src/cli/print.ts',
      'src/sandbox/main.ts',
      'src/platform/local/**',
      'bench/**',
      'scripts/**',
    ],
    rules: { 'no-console': 'off' },
  },
  {
    // expect() of a mock's method, and answers of fetch, which are whatever the test then says they are.
    files: ['test/**', '**/*.spec.ts', 'bench/**'],
    rules: {
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      'no-console': 'off',
    },
  },
);
