import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpLimits } from './http-limits.js';

const EMPTY_LINE = Buffer.from('\r\n\r\n');
/** `GET / HTTP/1.0` and its empty line have 18 bytes: the empty line of a request never starts earlier than this. */
const SHORTEST_HEAD_BYTES = 14;
/** Prevents a body full of empty lines from being parsed four bytes at a time. */
const SHORTEST_BODY_BYTES = 256;

type IntakeLimits = Pick<HttpLimits, 'pipeliningConnections' | 'discardedBytes'>;

/** The connections of a server that have unparsed bytes of requests. */
type Pipelining = Set<Intake>;

/**
 * Feeds the parser of one connection, one request at a time: the next one is parsed when the kernel has taken the whole response to the
 * previous one, as in most servers. Node parses all bytes that it has read at once, so 55 kB of pipelined requests become 1,500 running
 * handlers and as many responses in memory. A few small requests with bodies may overlap. If a client leaves while its further requests
 * wait, the next write to it reveals that.
 */
class Intake {
  private waiting: Buffer | undefined;
  private inWork = 0;
  private latest: IncomingMessage | undefined;
  private discardedBytes = 0;

  constructor(
    private readonly socket: Socket,
    private readonly parse: (bytes: Buffer) => void,
    private readonly pipelining: Pipelining,
    private readonly limits: IntakeLimits,
  ) {
    socket.on('resume', () => {
      // Node resumes the socket after each parsed request.
      if (this.waiting !== undefined) socket.pause();
    });
    socket.once('close', () => this.keep(undefined));
  }

  /** Parses as much of the input as may be processed now, and buffers the rest. */
  take(bytes: Buffer): void {
    if (this.waiting === undefined) this.feed(bytes);
    else this.keep(Buffer.concat([this.waiting, bytes]));
  }

  begin(request: IncomingMessage, response: ServerResponse): void {
    this.inWork += 1;
    this.latest = request;
    this.discardedBytes = 0;
    response.once('close', () => {
      this.inWork -= 1;
      if (this.inWork === 0 && this.latest?.complete === true) this.latest = undefined;
      // Not at once, so that a connection full of requests yields to the others after each one.
      if (this.waiting !== undefined) setImmediate(() => this.waiting && this.feed(this.waiting));
    });
  }

  /** Whether the rest of a body is arriving although its request already has its response. */
  get isDiscarding(): boolean {
    return this.inWork === 0 && this.latest?.complete === false;
  }

  private feed(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length && this.isOpen() && this.mayParse()) {
      const end = this.endOfPart(bytes, at);
      this.count(end - at);
      this.parse(at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end));
      at = end;
    }
    this.keep(at < bytes.length && this.isOpen() ? bytes.subarray(at) : undefined);
  }

  /** Returns false after a response that closes the connection: no more input is parsed. */
  private isOpen(): boolean {
    return this.socket.writable && !this.socket.destroyed;
  }

  /** A request needs the rest of its own body; the next one waits. */
  private mayParse(): boolean {
    return this.inWork === 0 || (this.inWork === 1 && this.latest?.complete === false);
  }

  private endOfPart(bytes: Buffer, from: number): number {
    const shortest = this.latest?.complete === false ? SHORTEST_BODY_BYTES : SHORTEST_HEAD_BYTES;
    const found = bytes.indexOf(EMPTY_LINE, from + shortest);
    return found === -1 ? bytes.length : found + EMPTY_LINE.length;
  }

  private count(bytes: number): void {
    if (!this.isDiscarding) return;
    this.discardedBytes += bytes;
    if (this.discardedBytes > this.limits.discardedBytes) this.socket.destroy();
  }

  private keep(rest: Buffer | undefined): void {
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

const intakes = new WeakMap<Socket, Intake>();

/** Installs an intake before the parser of each connection of a server. Call it before the server listens. */
export function limitIntake(server: Server, limits: IntakeLimits): void {
  const pipelining: Pipelining = new Set();
  server.on('connection', (socket: Socket) => {
    // Node's own listener, registered before this one, passes each chunk to the parser.
    const [parse] = socket.listeners('data') as ((bytes: Buffer) => void)[];
    if (parse === undefined) throw new Error('Node does not read this connection by a listener');
    const intake = new Intake(socket, parse, pipelining, limits);
    intakes.set(socket, intake);
    socket.off('data', parse).on('data', (bytes: Buffer) => intake.take(bytes));
  });
  server.prependListener('request', (request, response) => {
    intakes.get(request.socket)?.begin(request, response);
  });
}

/** Returns whether the rest of a body is read and discarded on this connection, because its request already has its response. */
export const isDiscarding = (socket: Socket): boolean => intakes.get(socket)?.isDiscarding === true;
