import { Body, Controller, Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { ApiBody, ApiCreatedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { currentExecution } from '../../access/execution.js';
import { CurrentKey, Operation } from '../../access/operation.decorator.js';
import { hasScope, type Principal } from '../../access/scopes.js';
import { ApiPage, mapPage } from '../../platform/http/page.js';
import { ApiProblems } from '../../platform/openapi/api-problems.decorator.js';
import { Problem } from '../../platform/problem/problem.js';
import { ParseUuid } from '../../platform/http/parameters.js';
import { LOCATION } from '../../platform/openapi/response-headers.js';
import { StallViews } from '../../stalls/stall-views.service.js';
import { SessionRefreshService } from '../poll/refresh.service.js';
import { StartSessionService } from '../start/start-session.service.js';
import { SessionViewsStore, type SessionRow } from '../store/session-views.store.js';
import { NewSession, SessionQuery } from './sessions.dto.js';
import { SessionsQuery } from './sessions.list.js';
import { SessionsService } from './sessions.service.js';
import { SessionView } from './sessions.view.js';
import { Query } from '../../platform/http/query.decorator.js';

@ApiTags('Onboarding')
@Controller()
export class SessionsController {
  constructor(
    private readonly starts: StartSessionService,
    private readonly views: SessionViewsStore,
    private readonly sessions: SessionsService,
    private readonly refreshes: SessionRefreshService,
    private readonly stalls: StallViews,
  ) {}

  @Post('onboarding/pv/:gridLocationId')
  @Operation('onboarding:write', {
    command: 'sessions start',
    bulk: true,
    notInBulk: { reuse: false },
    summary: 'Start a session for a grid location',
    description:
      'Returns 200 with the session of the same location and brand that is open or online, if there is one: a double click returns the same session, and a customer who is online is not asked to authorise again. The `startUrl` of an online session is null. Set `reuse` to false to connect further inverters of the brand; send an `Idempotency-Key` with it, so that a repetition gets the session that the first request has started.',
  })
  @ApiBody({ type: NewSession, required: false })
  @ApiCreatedResponse({ description: 'Started', type: SessionView, headers: LOCATION })
  @ApiOkResponse({ description: 'The session that is open or online', type: SessionView, headers: LOCATION })
  @ApiProblems('remote_rejected', 'remote_unavailable')
  async startSession(
    @Param('gridLocationId', ParseUuid) gridLocationId: string,
    @Body() { brand, metadata = {}, reuse = true }: NewSession,
    @CurrentKey() key: Principal,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SessionView> {
    const wanted = { gridLocationId, brand: brand ?? null, metadata, reuse };
    // A repetition gets the session as it is now: the startUrl of the first response may have expired.
    const execution = currentExecution();
    const repeated = execution?.result as { readonly id: string; readonly reused: boolean } | undefined;
    const { session, reused } = repeated
      ? { ...repeated, session: await this.refreshes.getSession(repeated.id) }
      : await this.starts.start(wanted);
    await execution?.remember({ id: session.id, reused });
    void reply.status(reused ? 200 : 201).header('location', `/api/v1/onboarding/pv/${session.id}`);
    return this.view(session, key);
  }

  @Get('onboarding/pv')
  @Operation('onboarding:read', {
    command: 'sessions list',
    columns: { ID: 'id', STATE: 'state', READ: 'checkedAt', BRAND: 'brand:10', REFERENCE: 'tenantReference' },
    summary: 'List sessions, the longest unchanged first',
    description:
      'Ordered by the last change of our record. A change is visible once it is committed, usually within a second of its time: to follow changes, begin at `updatedSince` a minute before the last run began. The feed of events misses none.',
  })
  @ApiPage(SessionView)
  async listSessions(@Query() query: SessionsQuery, @CurrentKey() key: Principal) {
    return mapPage(await this.views.listSessions(query), (row) => this.view(row, key));
  }

  @Get('onboarding/pv/:sessionId')
  @Operation('onboarding:read', {
    command: 'sessions show',
    summary: 'Read a session',
    description:
      'Returns our copy, which the service updates regularly. `maxAge` reads the remote service first if the copy is older, and `stale=allow` responds with the copy if that fails; `wait` responds as soon as the state changes.',
  })
  @ApiOkResponse({ type: SessionView })
  @ApiProblems('remote_unavailable', 'replica_busy')
  async readSession(
    @Param('sessionId', ParseUuid) sessionId: string,
    @Query() query: SessionQuery,
    @CurrentKey() key: Principal,
    @Req() request: FastifyRequest,
  ): Promise<SessionView> {
    return this.view(await this.sessions.read(sessionId, query, key, request), key);
  }

  @Get('users/:userId/pv/onboarding-sessions/:sessionId')
  @Operation('onboarding:read', {
    command: false,
    summary: 'Read a session by the other path shape of the remote service',
    description:
      'Returns the same as the path without the user; `not_found` if the session is of another user.',
  })
  @ApiOkResponse({ type: SessionView })
  @ApiProblems('remote_unavailable', 'replica_busy')
  async readSessionOfUser(
    @Param('userId', ParseUuid) userId: string,
    @Param('sessionId', ParseUuid) sessionId: string,
    @Query() query: SessionQuery,
    @CurrentKey() key: Principal,
    @Req() request: FastifyRequest,
  ): Promise<SessionView> {
    const session = await this.refreshes.getSession(sessionId);
    if (session.userId !== userId)
      throw new Problem('not_found', `User ${userId} has no session ${sessionId}`);
    return this.readSession(sessionId, query, key, request);
  }

  @Post('onboarding/pv/:sessionId/refresh')
  @HttpCode(200)
  @Operation('onboarding:read', {
    command: 'sessions refresh',
    bulk: true,
    summary: 'Read a session from the remote service now',
    description:
      'Concurrent requests for one session share reads of the remote service. A shared read is always sent after the request has arrived, so the response is never older than the request.',
  })
  @ApiOkResponse({ description: 'The current session', type: SessionView })
  @ApiProblems('session_closed', 'remote_unavailable')
  async refreshSession(@Param('sessionId', ParseUuid) sessionId: string, @CurrentKey() key: Principal) {
    // As of a start, a repetition gets the session as it is now.
    const execution = currentExecution();
    const isRepeated = execution?.result !== undefined;
    const session = await this.refreshes[isRepeated ? 'getSession' : 'refresh'](sessionId);
    await execution?.remember({ id: sessionId });
    return this.view(session, key);
  }

  private view(row: SessionRow, key: Principal): SessionView {
    const { startUrlCiphertext, changedAt, now, ...session } = row;
    const stalled = this.stalls.view('session', row, row.stalled);
    return SessionView.of({
      ...session,
      stalled,
      startUrl: hasScope(key, 'links:read') ? this.views.findStartUrl(row) : null,
    });
  }
}
