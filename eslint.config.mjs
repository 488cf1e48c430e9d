import regexp from 'eslint-plugin-regexp';
import tseslint from 'typescript-eslint';

const ENVIRONMENT_READERS = [
  'src/main.ts',
  'src/cli/main.ts',
  'sandbox/main.ts',
  'src/local/**',
  'src/platform/tracing/open-telemetry.ts',
  'test/**',
  'bench/**',
  'scripts/**',
  'clients/*/examples/**',
  'examples/**',
  'prisma.config.ts',
  'console/vite.config.mjs',
];

const NO_SYNTAX = [
  { selector: 'TSEnumDeclaration', message: 'Use a union of words: it needs no code and no mapping.' },
  { selector: 'ExportAllDeclaration', message: 'Import from the file that defines it.' },
  {
    selector:
      'CallExpression[callee.property.name="transaction"] > :function MemberExpression[object.type="ThisExpression"][property.name="database"]',
    message: 'Use the transaction that is given: on another connection, a statement is not part of it.',
  },
];

const NO_MARKUP = {
  selector:
    'JSXAttribute[name.name="dangerouslySetInnerHTML"], MemberExpression[property.name=/^(inner|outer)HTML$/], CallExpression[callee.property.name="insertAdjacentHTML"]',
  message: 'Texts of users and of the remote service may contain markup; React inserts them as text.',
};

/** The attributes of elements, and the properties of columns, filters and the like, whose values people read. */
const READ =
  '/^(aria-label|data-title|title|label|placeholder|description|button|done|note|none|empty|order|danger|words|sentence|summary|fault)$/';
const LETTERS = ':matches(Literal[value=/\\p{L}/u], TemplateLiteral)';
const CODE =
  ':not(TSLiteralType > *, BinaryExpression > *, JSXAttribute[name.name=/^(className|key)$/] *, CallExpression[callee.property.name=/^(closest|querySelector(All)?|matchMedia)$/] > *, Property[key.name="font"] > *)';
/** Texts that people read: in elements, in those attributes and properties, and all strings that look like words of a sentence. */
const NO_TEXTS = {
  selector: [
    'JSXText[value=/\\p{L}/u]',
    `JSXElement > JSXExpressionContainer > ${LETTERS}`,
    `JSXElement > JSXExpressionContainer > :matches(ConditionalExpression, LogicalExpression) > ${LETTERS}`,
    `JSXAttribute[name.name=${READ}] > ${LETTERS}`,
    `JSXAttribute[name.name=${READ}] > JSXExpressionContainer > ${LETTERS}`,
    `JSXAttribute[name.name=${READ}] > JSXExpressionContainer > :matches(ConditionalExpression, LogicalExpression) > ${LETTERS}`,
    `Property[key.name=${READ}] > ${LETTERS}`,
    `Property[key.name=${READ}] > :matches(ConditionalExpression, LogicalExpression) > ${LETTERS}`,
    `Literal[value=/^\\p{Lu}\\p{Ll}+$/u]${CODE}`,
    `Literal[value=/^(?!.*charset=).*\\p{L}[,;:.]? \\p{L}/u]${CODE}`,
    `TemplateElement[value.raw=/\\p{L}{2}[,;:.]? \\p{L}{2}|^\\p{Lu}\\p{Ll}+ |^[,;:.]? \\p{L}{2}/u]:not(BinaryExpression > TemplateLiteral > *)${CODE}`,
  ].join(', '),
  message: 'Texts that people read stand in console/src/texts.ts, so that a translation is possible.',
};

export default tseslint.config(
  {
    ignores: [
      '**/dist/**',
      'coverage/**',
      '**/node_modules/**',
      'src/platform/database/generated/**',
      'clients/typescript/src/openapi.ts',
      // Runs in browsers, whose types are not installed.
      'pages/**',
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
      // Some interfaces require async methods, even where an implementation awaits nothing.
      '@typescript-eslint/require-await': 'off',
      // Our interfaces use method syntax, so the rule cannot tell whether a method uses `this`.
      '@typescript-eslint/unbound-method': 'off',
      // No consistent-type-imports: Nest injects by class, so the class must be imported as a value.
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
      'no-restricted-syntax': ['error', ...NO_SYNTAX],
    },
  },
  {
    // tsc checks these files with tsconfig.scripts.json. They have few type annotations, so typed lint rules would only make noise.
    files: ['**/*.{mjs,cjs}'],
    ...tseslint.configs.disableTypeChecked,
  },
  {
    // Strangers choose the text, so the time of a match must grow no faster than its length. test/faults/security/patterns.spec.ts runs
    // every pattern.
    files: ['src/**', 'sandbox/**', 'console/src/**', 'clients/**', 'scripts/**'],
    plugins: { regexp },
    rules: {
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential', ignorePartial: false }],
    },
  },
  {
    files: ['src/**', 'test/**'],
    ignores: ['src/platform/http/query.decorator.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          paths: [
            {
              name: '@nestjs/common',
              importNames: ['Query'],
              message:
                'Import it from platform/http/query.decorator: a route without it refuses every query.',
            },
          ],
          patterns: [{ group: ['@nestjs/*/*'], message: 'The package does not export this file.' }],
        },
      ],
    },
  },
  {
    files: ['console/src/**'],
    rules: { 'no-restricted-syntax': ['error', ...NO_SYNTAX, NO_MARKUP] },
  },
  {
    files: ['console/src/**'],
    ignores: ['console/src/texts.ts', 'console/src/format/**', '**/*.spec.ts', '**/*.example.ts'],
    rules: { 'no-restricted-syntax': ['error', ...NO_SYNTAX, NO_MARKUP, NO_TEXTS] },
  },
  { files: ENVIRONMENT_READERS, rules: { 'no-restricted-properties': 'off' } },
  {
    // These files print to a terminal; all others use the logger.
    files: [
      'src/main.ts',
      'src/start-service.ts',
      'src/cli/print.ts',
      'sandbox/main.ts',
      'src/local/**',
      'bench/**',
      'scripts/**',
      'clients/*/examples/**',
      'examples/**',
    ],
    rules: { 'no-console': 'off' },
  },
  {
    // Tests use untyped mocks and response bodies everywhere.
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
