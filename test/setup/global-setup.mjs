import { isBuilt } from '../../scripts/prepare.mjs';
import './typescript.mjs';

// Jest transforms no global setup into an ES module, hence the detour.
export default async () => {
  process.env.PV_TEST_SERVICE = (await isBuilt()) ? 'dist/main.js' : 'src/main.ts';
  await (await import('./test-server.ts')).startTestServer();
};
