import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * The control API and the index page have no key, so only this machine may use them, and no page of another site that the
 * person here happens to have open.
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
