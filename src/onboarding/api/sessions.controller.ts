import { Body, Controller, Get, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CurrentKey } from '../../access/current-key.decorator.js';
import { RequireScope } from '../../access/require-scope.decorator.js';
import type { Principal } from '../../access/scopes.js';
import { ApiPage } from '../../platform/openapi/api-page.decorator.js';
import { ApiProblems } from '../../platform/openapi/api-problems.decorator.js';
import type { Page } from '../../platform/http/page.js';
import { PLAIN_READ } from '../../platform/http/plain-read.js';
import { ParseUuid } from '../../platform/http/uuid.pipe.js';
import { LOCATION } from '../../platform/openapi/response-headers.js';
import { NewSession, SessionQuery, SessionsQuery, SessionView } from './sessions.dto.js';
import { SessionsService } from './sessions.service.js';

@ApiTags('Onboarding')
@Controller()
export class SessionsController {
  constructor(private readonly sessions: SessionsService) {}

  @Post('onboarding/pv/:gridLocationId')
  @RequireScope('onboarding:write')
  @ApiOperation({
    operationId: 'startSession',
    summary: 'Start a session for a grid location',
    description:
      'Returns 200 with the open session of the same location and brand if there is one, so a double click returns the same session.',
  })
  @ApiCreatedResponse({ description: 'Started', type: SessionView, headers: LOCATION })
  @ApiOkResponse({ description: 'An open session was reused', type: SessionView, headers: LOCATION })
  @ApiProblems('invalid_request', 'not_found', 'remote_rejected', 'remote_unavailable')
  async start(
    @Param('gridLocationId', ParseUuid) gridLocationId: string,
    @Body() body: NewSession,
    @CurrentKey() key: Principal,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SessionView> {
    const { session, reused } = await this.sessions.start(gridLocationId, body, key);
    void reply.status(reused ? 200 : 201).header('location', `/api/v1/onboarding/pv/${session.id}`);
    return session;
  }

  @Get('onboarding/pv')
  @RequireScope('onboarding:read')
  @ApiOperation({ operationId: 'listSessions', summary: 'List sessions, the longest unchanged first' })
  @ApiPage(SessionView)
  list(@Query() query: SessionsQuery, @CurrentKey() key: Principal): Promise<Page<SessionView>> {
    return this.sessions.list(query, key);
  }

  @Get('onboarding/pv/:sessionId')
  @RequireScope('onboarding:read', PLAIN_READ)
  @ApiOperation({ operationId: 'readSession', summary: 'Read a session' })
  @ApiOkResponse({ type: SessionView })
  @ApiProblems('invalid_request', 'not_found', 'remote_unavailable', 'replica_busy')
  read(
    @Param('sessionId', ParseUuid) sessionId: string,
    @Query() query: SessionQuery,
    @CurrentKey() key: Principal,
    @Req() request: FastifyRequest,
  ): Promise<SessionView> {
    return this.sessions.read(sessionId, query, key, request);
  }

  @Get('users/:userId/pv/onboarding-sessions/:sessionId')
  @RequireScope('onboarding:read')
  @ApiOperation({
    operationId: 'readSessionOfUser',
    summary: 'Read a session by the other path shape of the remote service',
  })
  @ApiOkResponse({ type: SessionView })
  @ApiProblems('invalid_request', 'not_found', 'remote_unavailable', 'replica_busy')
  readOfUser(
    @Param('userId', ParseUuid) userId: string,
    @Param('sessionId', ParseUuid) sessionId: string,
    @Query() query: SessionQuery,
    @CurrentKey() key: Principal,
    @Req() request: FastifyRequest,
  ): Promise<SessionView> {
    return this.sessions.readOfUser(userId, sessionId, query, key, request);
  }

  @Post('onboarding/pv/:sessionId/refresh')
  @HttpCode(200)
  @RequireScope('onboarding:read')
  @ApiOperation({
    operationId: 'refreshSession',
    summary: 'Read a session from the remote service now',
    description:
      'Concurrent requests for one session share reads of the remote service. A shared read is always sent after the request has arrived, so the response is never older than the request.',
  })
  @ApiOkResponse({ description: 'The current session', type: SessionView })
  @ApiProblems('invalid_request', 'not_found', 'session_closed', 'remote_unavailable')
  refresh(
    @Param('sessionId', ParseUuid) sessionId: string,
    @CurrentKey() key: Principal,
  ): Promise<SessionView> {
    return this.sessions.refresh(sessionId, key);
  }
}
