import { Controller, Get, HttpCode, Post } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { recordDone } from '../access/audit-log.store.js';
import { CurrentKey, Operation } from '../access/operation.decorator.js';
import { actorOf, type Principal } from '../access/scopes.js';
import { TenantTokens } from '../auth/tenant-tokens.service.js';
import { TokenStore } from '../auth/token.store.js';
import { Database } from '../platform/database/database.js';
import { HistoryQuery, StatusHistoryView, stepOf, toHistory } from './history/history.view.js';
import { readHistory } from './history/samples.store.js';
import { CredentialsProbeView } from './remote.view.js';
import { StatusService } from './status.service.js';
import { StatusView, toStatus } from './status.view.js';
import { Query } from '../platform/http/query.decorator.js';

@ApiTags('Operation')
@Controller()
export class StatusController {
  constructor(
    private readonly status: StatusService,
    private readonly tokens: TokenStore,
    private readonly tenantTokens: TenantTokens,
    private readonly database: Database,
  ) {}

  // The scope is not `admin`, because apps must know whether sessions are up to date. The status has no personal data and no secret.
  @Get('status')
  @Operation('onboarding:read', {
    command: 'status',
    summary:
      'Status of the deployment: what is wrong, who is alive, the remote service, the poller and the outbox',
    description:
      'Replicas, backlogs, the token and `remote.deployment` concern the whole deployment; the rest of `remote` and the open streams concern the responding replica. Workers respond, too.',
  })
  @ApiOkResponse({ type: StatusView })
  async getStatus(): Promise<StatusView> {
    return toStatus(await this.status.read());
  }

  @Get('status/history')
  @Operation('onboarding:read', {
    command: 'status-history',
    summary: 'The status of the last hours: the reasons and the main figures over time',
    description: 'One sample per minute is stored for 8 days. There are at most some 300 points.',
  })
  @ApiOkResponse({ type: StatusHistoryView })
  async getStatusHistory(@Query() { hours }: HistoryQuery): Promise<StatusHistoryView> {
    const stepSeconds = stepOf(hours);
    const rows = await readHistory(this.database, hours, stepSeconds);
    return toHistory(stepSeconds, rows);
  }

  @Post('status/credentials/probe')
  @HttpCode(200)
  @Operation('admin', {
    command: 'credentials probe',
    summary: 'Request an access token from the remote service now',
    description:
      'After refused credentials, the next attempt waits up to 5 minutes. This call makes the attempt now, for all replicas, at most once every 5 seconds.',
  })
  @ApiOkResponse({ type: CredentialsProbeView, description: 'The result, whether there is a token or not' })
  async probeCredentials(@CurrentKey() key: Principal): Promise<CredentialsProbeView> {
    const outcome = await this.tenantTokens.probe();
    const audit = { action: 'credentials.probed', target: 'token', details: { outcome } } as const;
    await recordDone(this.database, { actor: actorOf(key), ...audit });
    const { lastError, nextAttemptAt } = await this.tokens.getStatus();
    return CredentialsProbeView.of({ outcome, lastError, nextAttemptAt });
  }
}
