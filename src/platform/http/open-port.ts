import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Environment } from '../env/environment.js';

/** Listens; returns our URL on this machine. If PORT is in use, throws, or with `mayTakeAnother` uses a free port and says so. */
export async function listen(
  app: NestFastifyApplication,
  { HOST: host, PORT: port }: Environment,
  mayTakeAnother: boolean,
  say: (line: string) => void,
): Promise<string> {
  await app.init();
  // Not Nest's own `listen`, which logs a port in use as an error before it throws.
  const server = app.getHttpAdapter().getInstance();
  const url = await server.listen({ port, host }).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE' || !mayTakeAnother) throw error;
    say(`port ${port} is in use, using a free one`);
    return server.listen({ port: 0, host });
  });
  return url.replace('[::]', '[::1]');
}
