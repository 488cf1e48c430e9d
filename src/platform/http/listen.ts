import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Environment } from '../env/environment.js';

/** How many ports after a taken one are tried. */
const NEXT_PORTS = 20;

/**
 * Listens and returns the address that reaches us from this machine. If a default port is taken, uses the next free one and says so. Throws
 * if a port set by the operator is taken.
 */
export async function listen(
  app: NestFastifyApplication,
  environment: Environment,
  mayTakeAnother: boolean,
  say: (line: string) => void,
): Promise<string> {
  const { HOST, PORT } = environment;
  await app.init();
  // Nest's own `listen` logs a taken port as an error before it throws.
  const server = app.getHttpAdapter().getInstance();
  const more = mayTakeAnother ? Array.from({ length: NEXT_PORTS }, (_, index) => PORT + 1 + index) : [];
  for (const port of [PORT, ...more]) {
    try {
      await server.listen({ port, host: HOST });
      if (port !== PORT) say(`port ${PORT} is taken, using ${port}`);
      return addressOf(app, HOST);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EADDRINUSE' && mayTakeAnother) continue;
      if (code === 'EADDRINUSE') throw new Error(`PORT ${port} is taken on ${HOST}`, { cause: error });
      if (code === 'EACCES')
        throw new Error(`PORT ${port} may not be used by this account`, { cause: error });
      if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
        throw new Error(`HOST ${HOST} is no address of this machine`, { cause: error });
      }
      throw error;
    }
  }
  throw new Error(`the ports ${PORT} to ${PORT + NEXT_PORTS} are all taken; set PORT (0 takes a free one)`);
}

function addressOf(app: NestFastifyApplication, host: string): string {
  const address = app.getHttpServer().address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const reachable =
    host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host;
  return `http://${reachable}:${port}`;
}
