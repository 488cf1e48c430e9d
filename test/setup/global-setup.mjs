import { buildTests } from './compile/test-build.mjs';
import './compile/typescript.mjs';

// Jest does not compile a global setup to an ES module, so this file is JavaScript and imports test-server.ts.
export default async () => {
  process.env.PV_TEST_BUILD = (await buildTests()) ?? '';
  await (await import('./processes/test-server.ts')).startTestServer();
};
