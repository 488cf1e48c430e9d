import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * Refuses requests from other machines, and those from pages of other sites open in a browser here. The control API and the index page have
 * no key.
 */
export const onlyFromHere = async (
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply | undefined> => {
  const isLoopback = /^(::1|(::ffff:)?127\.)/.test(request.socket.remoteAddress ?? '');
  const { origin } = request.headers;
  const isOwnPage = origin === undefined || origin === `http://${request.headers.host}`;
  if (isLoopback && isOwnPage) return undefined;
  return reply.code(403).send({ message: 'this part of the sandbox answers only its own machine' });
};

const LOOPBACK_NAME = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Refuses every request whose Host is neither a name of the loopback nor one of `others` (in lower case, without a port). A page of another
 * site can point its own name at this machine (DNS rebinding) and is then of the same origin, but its Host is still that name.
 */
export const onlyTo =
  (others: readonly string[]) =>
  async ({ headers }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    const name = (headers.host ?? '').toLowerCase().replace(/:\d+$/, '');
    if (LOOPBACK_NAME.test(name) || others.includes(name)) return undefined;
    return reply.code(403).send({
      message: 'the Host of this request is no name of the sandbox: SANDBOX_ALLOWED_HOSTS can list it',
    });
  };
