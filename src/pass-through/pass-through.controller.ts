import { Readable } from 'node:stream';
import { All, Controller, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ActiveCallers } from '../access/active-callers.service.js';
import { CurrentKey, Operation } from '../access/operation.decorator.js';
import { actorOf, type Principal } from '../access/scopes.js';
import { Environment } from '../platform/env/environment.js';
import { findAllowed, idsIn, readPassThrough } from '../platform/env/pass-through.rules.js';
import { givenType } from '../platform/http/file-body.js';
import { MAX_PASSED_BYTES } from '../platform/http/http-limits.js';
import { PassesQuery } from '../platform/http/query.decorator.js';
import { nothingHere } from '../platform/problem/problem.js';
import { beginBody, tooLarge } from './passed-body.js';
import { PassThrough } from './pass-through.service.js';
import { PassThroughStore } from './pass-through.store.js';

const PREFIX = '/api/v1/scs/';
const REMOTE_PREFIX = '/api/v1/ssa/';

// openapi.json does not describe it: the paths have several segments, and the bodies are those of the remote service.
@ApiExcludeController()
@Controller('scs')
export class PassThroughController {
  private readonly allowed = allowedBy(this.environment);

  constructor(
    private readonly service: PassThrough,
    private readonly store: PassThroughStore,
    private readonly callers: ActiveCallers,
    private readonly environment: Environment,
  ) {}

  @All('*')
  @PassesQuery()
  @Operation(
    'remote:call',
    {
      command: false,
      summary: 'Call the remote service',
      description: 'Passes the request on, where SCS_PASS_THROUGH allows it.',
    },
    { passesBody: true },
  )
  async passOn(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @CurrentKey() key: Principal,
  ): Promise<void> {
    const [path = '', query = ''] = partsOf(request.url);
    const call = path.startsWith(PREFIX)
      ? findAllowed(this.allowed, request.method, path.slice(PREFIX.length))
      : undefined;
    if (call === undefined) throw nothingHere();
    if (Number(request.headers['content-length']) > MAX_PASSED_BYTES) throw tooLarge();
    const over = new AbortController();
    let refusal: unknown;
    const unwatch = this.callers.watch(key, (why) => {
      refusal = why;
      over.abort();
    });
    const leave = (): void => {
      unwatch();
      over.abort();
    };
    reply.raw.once('close', leave);
    // The caller may have left before.
    if (reply.raw.destroyed) leave();
    const mayAct = () => this.callers.require(key);
    const body = request.body instanceof Readable ? await beginBody(request.body, mayAct) : undefined;
    const target = `${call.method} ${call.pattern}`;
    const entry = { actor: actorOf(key), action: 'remote.called', target };
    const ids = idsIn(`${path} ${decodeURIComponent(query)}`);
    const refuse = (error: unknown): never => {
      body?.stop();
      throw error;
    };
    if (!(await this.store.admit(ids, entry).catch(refuse))) refuse(nothingHere());
    const type = body && givenType(request);
    const headers = {
      ...this.service.requestHeaders(request.headers),
      ...(type !== undefined && { 'content-type': type }),
    };
    const remotePath = `${REMOTE_PREFIX}${path.slice(PREFIX.length)}${query && `?${query}`}`;
    const passed = { method: call.method, path: remotePath, headers, signal: over.signal };
    const response = await this.service.pass(passed, body).catch((error: unknown) => {
      throw refusal ?? error;
    });
    void reply
      .status(response.status)
      .headers(this.service.responseHeaders(response.headers))
      .send(response.body);
  }
}

function allowedBy({ SCS_PASS_THROUGH }: Environment) {
  const allowed = SCS_PASS_THROUGH === undefined ? [] : readPassThrough(SCS_PASS_THROUGH);
  if (typeof allowed === 'string') throw new Error(`SCS_PASS_THROUGH ${allowed}`);
  return allowed;
}

function partsOf(url: string): [path: string, query: string] {
  const [sent = ''] = url.split('#', 1);
  const [path = ''] = sent.split('?', 1);
  return [path, sent.slice(path.length + 1)];
}
