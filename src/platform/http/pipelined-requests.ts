import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpLimits } from './http-limits.js';

const EMPTY_LINE = Buffer.from('\r\n\r\n');
/** The length of `GET / HTTP/1.0`: the empty line of a request never starts earlier. */
const SHORTEST_HEAD_BYTES = 14;
/** The smallest part of a body to parse at a time. Without it, a body of empty lines would be parsed in parts of four bytes. */
const SHORTEST_BODY_BYTES = 256;

/**
 * Feeds the parser of a connection one request at a time. The next follows when the kernel has accepted the whole previous response.
 * Without this, 55 kB of pipelined requests would start 1,500 handlers at once. A few small requests with bodies may overlap.
 *
 * Optional: without the call of `limitPipelining` in create-app, the service works, with Node's own behaviour.
 *
 * Rejected, by the p99 of other clients during 200 connections with 1,500 unread requests each, in one or two runs on a busy machine (with
 * this class 317 to 767 ms, 160 to 500 ms without the attack): no limit, 2.5 s; `maxRequestsPerSocket` of 1 or 100 with `keepAliveTimeout`,
 * or with closing the connection at `dropRequest`, over 8 s and failed requests. Neither `highWaterMark`, `maxConnections` nor a shorter
 * `connectionTimeout` helped. Counting requests in the `request` event and closing the connection at the 17th waiting one needs no parser,
 * but took 0.5 to 1.3 s and breaks clients that pipeline more.
 */
class PipelinedRequests {
  private waiting: Buffer | undefined;
  private inProgress = 0;
  private latest: IncomingMessage | undefined;
  private discardedBytes = 0;

  constructor(
    private readonly socket: Socket,
    private readonly parse: (bytes: Buffer) => void,
    /** The server's connections that have unparsed input. */
    private readonly pipelining: Set<PipelinedRequests>,
    private readonly limits: HttpLimits,
  ) {
    socket.on('resume', () => {
      // Node resumes the socket after each parsed request.
      if (this.waiting !== undefined) socket.pause();
    });
    socket.once('close', () => this.setWaiting(undefined));
  }

  /** Parses as much of the input as may be processed now, and buffers the rest. */
  take(bytes: Buffer): void {
    if (this.waiting === undefined) this.feed(bytes);
    else this.setWaiting(Buffer.concat([this.waiting, bytes]));
  }

  begin(request: IncomingMessage, response: ServerResponse): void {
    this.inProgress += 1;
    this.latest = request;
    this.discardedBytes = 0;
    response.once('close', () => {
      this.inProgress -= 1;
      if (this.inProgress === 0 && this.latest?.complete === true) this.latest = undefined;
      // Deferred, so that a connection with many requests yields to other connections after each request.
      if (this.waiting !== undefined) setImmediate(() => this.waiting && this.feed(this.waiting));
    });
  }

  /** Returns whether the rest of a body is still arriving after the response to its request. */
  get isDiscarding(): boolean {
    return this.inProgress === 0 && this.latest?.complete === false;
  }

  private feed(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length && this.isOpen() && this.mayParse()) {
      const end = this.endOfPart(bytes, at);
      if (this.isDiscarding) this.discardedBytes += end - at;
      if (this.discardedBytes > this.limits.discardedBytes) this.socket.destroy();
      this.parse(at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end));
      at = end;
    }
    this.setWaiting(at < bytes.length && this.isOpen() ? bytes.subarray(at) : undefined);
  }

  /** Returns whether the connection stays open. After a response that closes it, no more input is parsed. */
  private isOpen(): boolean {
    return this.socket.writable && !this.socket.destroyed;
  }

  /** Returns whether no request is in progress, or only one that still needs the rest of its body. */
  private mayParse(): boolean {
    return this.inProgress === 0 || (this.inProgress === 1 && this.latest?.complete === false);
  }

  private endOfPart(bytes: Buffer, from: number): number {
    const shortest = this.latest?.complete === false ? SHORTEST_BODY_BYTES : SHORTEST_HEAD_BYTES;
    const found = bytes.indexOf(EMPTY_LINE, from + shortest);
    return found === -1 ? bytes.length : found + EMPTY_LINE.length;
  }

  private setWaiting(rest: Buffer | undefined): void {
    const hasWaited = this.waiting !== undefined;
    this.waiting = rest;
    if (rest === undefined) {
      this.pipelining.delete(this);
      if (hasWaited) this.socket.resume();
      return;
    }
    this.pipelining.add(this);
    if (this.pipelining.size > this.limits.pipeliningConnections) this.socket.destroy();
    else this.socket.pause();
  }
}

const limited = new WeakMap<Socket, PipelinedRequests>();

/**
 * Limits how many requests of each connection are parsed at once. Call it before the server listens. If Node's parser is not found, the
 * connection has no limit.
 */
export function limitPipelining(server: Server, limits: HttpLimits): void {
  const pipelining = new Set<PipelinedRequests>();
  server.on('connection', (socket: Socket) => {
    // Node's own listener, registered before this one, passes each chunk to the parser. Node does not document the listener.
    const [parse, ...others] = socket.listeners('data') as ((bytes: Buffer) => void)[];
    if (parse === undefined || others.length > 0) return;
    const requests = new PipelinedRequests(socket, parse, pipelining, limits);
    limited.set(socket, requests);
    socket.off('data', parse).on('data', (bytes: Buffer) => requests.take(bytes));
  });
  server.prependListener('request', (request, response) => {
    limited.get(request.socket)?.begin(request, response);
  });
}

/** Returns whether this connection discards the rest of a body, because its request already has a response. */
export const isDiscarding = (socket: Socket): boolean => limited.get(socket)?.isDiscarding === true;
