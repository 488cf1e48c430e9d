import { runNode } from './run-node.mjs';

const TYPESCRIPT = ['--import', './test/setup/typescript.mjs'];

/** Cheapest first. */
const CHECKS = [
  ['lock file', ['scripts/check/lock-file.mjs']],
  ['format', ['node_modules/prettier/bin/prettier.cjs', '--check', '--log-level=warn', '.']],
  [
    'dependency rules',
    [
      'node_modules/dependency-cruiser/bin/dependency-cruise.mjs',
      '--config',
      '.dependency-cruiser.cjs',
      'src',
      'test',
    ],
  ],
  ['OpenAPI drift', ['dist/cli/main.js', 'openapi', '--check']],
  ['schema drift', [...TYPESCRIPT, 'scripts/check/schema-drift.ts']],
  ['types', ['node_modules/typescript/bin/tsc', '--noEmit', '-p', 'tsconfig.json']],
  ['lint', ['node_modules/eslint/bin/eslint.js', '.']],
];

/** Runs all, or those whose name begins with an argument; a line for each, what it found below; returns the exit code. */
export async function check(args) {
  const chosen = CHECKS.filter(([name]) => args.length === 0 || args.some((arg) => name.startsWith(arg)));
  let code = 0;
  for (const [name, command] of chosen) {
    const startedAt = Date.now();
    const output = [];
    const failed = (await runNode(command, { output })) !== 0;
    const seconds = ((Date.now() - startedAt) / 1_000).toFixed(1);
    console.log(`${failed ? 'failed' : 'ok    '}  ${name.padEnd(16)}  ${seconds} s`);
    if (failed) {
      console.log(Buffer.concat(output).toString());
      code = 1;
    }
  }
  return code;
}
