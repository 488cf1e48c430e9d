import { runNode } from './run-node.mjs';

const TYPESCRIPT = ['--import', './test/setup/typescript.mjs'];

/** The exit code of a check that could not be done here and now, which is told and fails nothing. */
export const NOT_POSSIBLE = 75;

/** Cheapest first. */
const CHECKS = [
  ['packages', ['scripts/check/packages.mjs']],
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
  ['known vulnerabilities', ['scripts/check/audit.mjs']],
  ['OpenAPI drift', ['dist/cli/main.js', 'openapi', '--check']],
  ['AsyncAPI drift', ['dist/cli/main.js', 'asyncapi', '--check']],
  ['performance figures', [...TYPESCRIPT, 'bench/draw.ts', '--check']],
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
    const exit = await runNode(command, { output });
    const result = exit === 0 ? 'ok    ' : exit === NOT_POSSIBLE ? 'UNSEEN' : 'failed';
    const seconds = ((Date.now() - startedAt) / 1_000).toFixed(1);
    console.log(`${result}  ${name.padEnd(21)}  ${seconds} s`);
    if (exit !== 0) console.log(Buffer.concat(output).toString());
    if (result === 'failed') code = 1;
  }
  return code;
}
