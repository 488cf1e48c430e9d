import './typescript.mjs';

// Jest transforms no global setup into an ES module, hence the detour.
export default async () => (await import('./test-server.ts')).startTestServer();
