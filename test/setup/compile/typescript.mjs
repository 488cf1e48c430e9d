import { register } from 'node:module';

// Lets Node run TypeScript: `node --import ./test/setup/compile/typescript.mjs file.ts`. A test process then never runs an outdated build.
register('./typescript-hooks.mjs', import.meta.url);
process.setSourceMapsEnabled(true);
