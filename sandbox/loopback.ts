import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * Refuses requests that a browser sends from a foreign page. Unless the sandbox has a public URL, also refuses requests from other
 * machines. Nothing else protects the control API and the index page: they require no key.
 */
export const onlyTrusted =
  (publicUrl: string | null) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    const isLoopback = /^(::1|(::ffff:)?127\.)/.test(request.socket.remoteAddress ?? '');
    const { origin } = request.headers;
    const isOwnPage =
      origin === undefined || origin === `http://${request.headers.host}` || origin === publicUrl;
    if ((isLoopback || publicUrl !== null) && isOwnPage) return undefined;
    return reply
      .code(403)
      .send({ message: 'this part of the sandbox serves only its own machine and its own pages' });
  };

const LOOPBACK_NAME = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Refuses a request unless its Host is a loopback name or in `allowedHosts` (lower case, without ports). Prevents DNS rebinding, in which
 * the host name of a foreign page resolves to this machine.
 */
export const onlyTo =
  (allowedHosts: readonly string[]) =>
  async ({ headers }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    const name = (headers.host ?? '').toLowerCase().replace(/:\d+$/, '');
    if (LOOPBACK_NAME.test(name) || allowedHosts.includes(name)) return undefined;
    return reply.code(403).send({
      message: 'the Host of this request is not a name of the sandbox: SANDBOX_ALLOWED_HOSTS can list it',
    });
  };
