import { runNode } from './run-node.mjs';

/** Rebuilds and restarts the service at every change. `flags` go to Node, such as --inspect. */
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
