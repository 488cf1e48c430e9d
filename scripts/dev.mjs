import { runNode } from './run-node.mjs';

/** Builds and restarts at every change. */
export async function watch() {
  await Promise.all([
    runNode([
      'node_modules/typescript/bin/tsc',
      '-p',
      'tsconfig.build.json',
      '--watch',
      '--preserveWatchOutput',
    ]),
    runNode(['--watch', '--enable-source-maps', 'dist/main.js']),
  ]);
}
