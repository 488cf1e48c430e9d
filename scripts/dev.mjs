import { runNode } from './run-node.mjs';

/** Rebuilds and restarts the service after every change of a source file. Passes `flags`, such as --inspect, to Node. */
export async function watch(flags) {
  await Promise.all([
    runNode([
      'node_modules/typescript/bin/tsc',
      '-p',
      'tsconfig.build.json',
      '--watch',
      '--preserveWatchOutput',
    ]),
    runNode(['--watch', ...flags, '--enable-source-maps', 'dist/main.js']),
  ]);
}
