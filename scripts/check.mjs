import { runNode } from './run-node.mjs';

const TYPESCRIPT = ['--import', './test/setup/compile/typescript.mjs'];

/** The exit code of a check that cannot run, for example offline. Such a check is reported, but does not fail `npm run check`. */
export const NOT_POSSIBLE = 75;

/**
 * The checks, cheapest first.
 * @type {[string, string[]][]}
 */
const CHECKS = [
  ['packages', [...TYPESCRIPT, 'scripts/check/packages.ts']],
  ['format', ['node_modules/prettier/bin/prettier.cjs', '--check', '--log-level=warn', '.']],
  [
    'dependency rules',
    [
      'node_modules/dependency-cruiser/bin/dependency-cruise.mjs',
      '--config',
      '.dependency-cruiser.cjs',
      'src',
      'sandbox',
      'test',
      'bench',
      'scripts',
      'clients/typescript/src',
      'console/src',
    ],
  ],
  ['known vulnerabilities', ['scripts/check/audit.mjs']],
  ['OpenAPI drift', [...TYPESCRIPT, 'scripts/generated-files.ts', 'openapi', '--check']],
  ['AsyncAPI drift', [...TYPESCRIPT, 'scripts/generated-files.ts', 'asyncapi', '--check']],
  ['alert drift', [...TYPESCRIPT, 'scripts/generated-files.ts', 'alerts', '--check']],
  ['client drift', ['scripts/client-types.mjs', '--check']],
  ['links of the guides', ['scripts/guides/build.mjs', '--check']],
  ['API descriptions', ['scripts/check/api-descriptions.mjs']],
  ['performance figures', [...TYPESCRIPT, 'bench/draw.ts', '--check']],
  ['seeded bugs', [...TYPESCRIPT, 'scripts/check/seeded-bugs.ts']],
  ['schema drift', [...TYPESCRIPT, 'scripts/check/schema-drift.ts']],
  ['types', ['node_modules/typescript/bin/tsc', '--noEmit', '-p', 'tsconfig.json']],
  ['types of the client', ['node_modules/typescript/bin/tsc', '-p', 'clients/typescript/tsconfig.json']],
  ['types of the example', ['node_modules/typescript/bin/tsc', '--noEmit', '-p', 'examples/nestjs']],
  ['types of the console', ['node_modules/typescript/bin/tsc', '-p', 'console/tsconfig.json']],
  ['size of the console', ['scripts/check/console-size.mjs']],
  ['types of scripts', ['node_modules/typescript/bin/tsc', '--noEmit', '-p', 'tsconfig.scripts.json']],
  ['lint', ['node_modules/eslint/bin/eslint.js', '.']],
];

/** Runs the checks whose name starts with one of `args`. Default: all. Prints the results and returns the exit code. */
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
