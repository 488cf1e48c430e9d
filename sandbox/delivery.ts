import { STATUS_CODES } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Socket } from 'node:net';
import type { FastifyReply } from 'fastify';
import type { Fault } from './faults.js';
import type { WireResponse } from './wire.js';

export const deliver = (reply: FastifyReply, response: WireResponse): FastifyReply =>
  reply.code(response.status).headers(response.headers).send(response.body);

/** Sends the response with the fault. A fault that breaks the byte stream writes to the socket and bypasses Fastify. */
export const deliverWith = async (
  reply: FastifyReply,
  response: WireResponse,
  fault: Fault,
): Promise<FastifyReply> => {
  const { behaviour } = fault;
  if (fault.delayMs > 0) await sleep(fault.delayMs);
  const { socket } = reply.raw;
  switch (behaviour.kind) {
    case 'delay':
      return deliver(reply, response);
    case 'hold':
      await new Promise<void>((letGo) => {
        fault.held.add(letGo);
        // Ends the wait when the client disconnects.
        reply.raw.once('close', () => {
          fault.held.delete(letGo);
          letGo();
        });
      });
      return deliver(reply, response);
    case 'answer':
      return deliver(reply, behaviour.response);
    case 'reset':
      reply.hijack();
      socket?.resetAndDestroy();
      return reply;
    case 'truncate': {
      const { head, body } = bytesOf(response);
      reply.hijack();
      socket?.end(Buffer.concat([head, body.subarray(0, Math.floor(body.length / 2))]));
      return reply;
    }
    case 'stall': {
      const { head, body } = bytesOf(response);
      reply.hijack();
      if (behaviour.after !== 'nothing') socket?.write(head);
      if (behaviour.after === 'half') socket?.write(body.subarray(0, Math.floor(body.length / 2)));
      return reply;
    }
    case 'drip': {
      const { head, body } = bytesOf(response);
      reply.hijack();
      if (!socket) return reply;
      if (behaviour.from === 'body') socket.write(head);
      await drip(socket, behaviour.from === 'body' ? body : Buffer.concat([head, body]), behaviour);
      return reply;
    }
  }
};

const drip = async (
  socket: Socket,
  bytes: Buffer,
  { intervalMs, chunkBytes }: { readonly intervalMs: number; readonly chunkBytes: number },
): Promise<void> => {
  for (let sent = 0; sent < bytes.length && !socket.destroyed; sent += chunkBytes) {
    socket.write(bytes.subarray(sent, sent + chunkBytes));
    await sleep(intervalMs);
  }
  socket.end();
};

const bytesOf = (response: WireResponse): { head: Buffer; body: Buffer } => {
  const body = Buffer.from(response.body);
  const headers = { ...response.headers, 'content-length': String(body.length), connection: 'close' };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const status = `HTTP/1.1 ${response.status} ${STATUS_CODES[response.status] ?? ''}\r\n`;
  return { head: Buffer.from(`${status}${lines.join('')}\r\n`), body };
};
