import { register } from 'node:module';

// Lets plain Node run the TypeScript of this repository (`node --import ./test/setup/typescript.mjs file.ts`), so that processes
// started by tests are never those of an older build.
register('./typescript-hooks.mjs', import.meta.url);
process.setSourceMapsEnabled(true);
