import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Environment } from '../env/environment.js';

/** How many further ports are tried if PORT is in use. */
const NEXT_PORTS = 20;

/** Listens; returns our URL on this machine. If PORT is in use, throws, or with `mayTakeAnother` uses the next free port and says so. */
export async function listen(
  app: NestFastifyApplication,
  environment: Environment,
  mayTakeAnother: boolean,
  say: (line: string) => void,
): Promise<string> {
  const { HOST, PORT } = environment;
  await app.init();
  // Not Nest's own `listen`, which logs a port in use as an error before it throws.
  const server = app.getHttpAdapter().getInstance();
  const more = mayTakeAnother ? Array.from({ length: NEXT_PORTS }, (_, index) => PORT + 1 + index) : [];
  for (const port of [PORT, ...more]) {
    try {
      const url = await server.listen({ port, host: HOST });
      if (port !== PORT) say(`port ${PORT} is in use, using ${port}`);
      return url.replace('[::]', '[::1]');
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (code === 'EADDRINUSE' && mayTakeAnother) continue;
      throw listenError(error, 'PORT', port, HOST);
    }
  }
  throw new Error(`the ports ${PORT} to ${PORT + NEXT_PORTS} are all in use; set PORT (0 picks a free one)`);
}

/** Returns the error with a message that names the variable at fault. Returns other errors as they are. */
export function listenError(error: unknown, variable: string, port: number, host: string): unknown {
  const { code = '' } = error as NodeJS.ErrnoException;
  const reason = {
    EADDRINUSE: `${variable} ${port} is in use on ${host}`,
    EACCES: `${variable} ${port} may not be used by this account`,
    EADDRNOTAVAIL: `HOST ${host} is not an address of this machine`,
    ENOTFOUND: `HOST ${host} is not an address of this machine`,
  }[code];
  return reason === undefined ? error : new Error(reason, { cause: error });
}
