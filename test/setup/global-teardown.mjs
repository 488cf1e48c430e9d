export default async () => (await import('./processes/test-server.ts')).stopTestServer();
