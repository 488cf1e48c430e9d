export default async () => (await import('./test-server.ts')).stopTestServer();
