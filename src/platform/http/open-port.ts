import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Environment } from '../env/environment.js';

/** Listens on PORT and returns our URL on this machine. If PORT is in use, throws, or uses a free port if `mayTakeAnother` is true. */
export async function listen(
  app: NestFastifyApplication,
  { HOST: host, PORT: port }: Environment,
  mayTakeAnother: boolean,
  say: (line: string) => void,
): Promise<string> {
  await app.init();
  // Nest's own `listen` would log a port in use as an error before it throws.
  const server = app.getHttpAdapter().getInstance();
  const url = await server.listen({ port, host }).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE' || !mayTakeAnother) throw listenError(error, 'PORT', port, host);
    say(`port ${port} is in use, using a free one`);
    return server.listen({ port: 0, host });
  });
  return url.replace('[::]', '[::1]');
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
