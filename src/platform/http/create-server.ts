import { createServer, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpLimits } from './http-limits.js';

/** Creates a server with our limits of time, headers and connections. It does not listen yet. */
export function createLimitedServer(listener: RequestListener, limits: HttpLimits): Server {
  const options = {
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: limits.checkMs,
    maxHeaderSize: limits.headerBytes,
    keepAliveTimeout: limits.keepAliveMs,
  };
  const server = createServer(options, oneAtATime(listener, limits.pipelinedRequests));
  server.maxConnections = limits.connections;
  return server.setTimeout(limits.idleMs);
}

/**
 * Runs one request of a connection at a time. Runs the next one when the kernel has accepted the whole previous response, so that a client
 * that reads nothing uses the memory of one response. Closes a connection with more than `limit` requests, since each needs some kB.
 */
function oneAtATime(listener: RequestListener, limit: number): RequestListener {
  const queues = new WeakMap<Socket, (() => void)[]>();
  return (request, response) => {
    const { socket } = request;
    const queue = queues.get(socket) ?? [];
    queues.set(socket, queue);
    if (queue.length >= limit) return void socket.destroy();
    queue.push(() => listener(request, response));
    response.once('close', () => {
      queue.shift();
      if (!socket.destroyed) queue[0]?.();
    });
    if (queue.length === 1) listener(request, response);
  };
}
