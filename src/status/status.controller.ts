import { Controller, Get, HttpCode, Post } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { recordAudit } from '../access/audit-log.store.js';
import { CurrentKey } from '../access/current-key.decorator.js';
import { Operation } from '../access/operation.decorator.js';
import { actorOf, type Principal } from '../access/scopes.js';
import { CredentialsProbe } from '../auth/credentials-probe.service.js';
import { TokenStore } from '../auth/token.store.js';
import { OpenStreams } from '../events/stream/open-streams.service.js';
import { Database } from '../platform/database/database.js';
import { findTableLocks } from '../platform/database/table-locks.js';
import { Environment } from '../platform/env/environment.js';
import { Remote } from '../remote/remote.service.js';
import { findReasons } from './health.rules.js';
import { StatusStore } from './status.store.js';
import { CredentialsProbeView, StatusView, WORST_LAST } from './status.view.js';

@ApiTags('Operation')
@Controller('status')
export class StatusController {
  constructor(
    private readonly remote: Remote,
    private readonly tokens: TokenStore,
    private readonly store: StatusStore,
    private readonly streams: OpenStreams,
    private readonly credentials: CredentialsProbe,
    private readonly database: Database,
    private readonly environment: Environment,
  ) {}

  // Not `admin`: an app that shows sessions needs to know whether they are up to date, and nothing here is personal or secret.
  @Get()
  @Operation('onboarding:read', {
    summary:
      'Status of the deployment: what is wrong, who is alive, the remote service, the poller and the outbox',
    description:
      'Replicas, backlogs, the token and `remote.deployment` concern the whole deployment; the rest of `remote` and the open streams concern the responding replica. Workers respond, too.',
  })
  @ApiOkResponse({ type: StatusView })
  async getStatus(): Promise<StatusView> {
    const [token, polling, backlog, budget, deployment, replicas, tableLocks] = await Promise.all([
      this.tokens.getStatus(),
      this.store.readPolling(),
      this.store.readBacklog(),
      this.store.readBudget(),
      this.store.readDeployment(),
      this.store.listReplicas(),
      findTableLocks(this.database),
    ]);
    const { outbox, handlers, webhooks, broker, ...queues } = backlog;
    const remote = this.remote.status();
    const healths = Object.values(remote.operations).map(({ health }) => health);
    // The token is shared: if another replica received the refusal, the operations of this replica may be healthy.
    if (token.state === 'rejected') healths.push('unavailable');
    else if (token.state === 'on_trial' || deployment.degraded.length > 0) healths.push('degraded');
    const health = WORST_LAST.findLast((each) => healths.includes(each))!;
    const streams = { open: this.streams.count };
    const facts = {
      replicas,
      tableLocks,
      remote: { health, ...remote, deployment },
      token,
      poller: polling?.poller ?? null,
      budget: { ...budget, late: polling?.late ?? [] },
      outbox: { ...outbox, readers: { handlers, webhooks, streams, broker } },
      ...queues,
    };
    const { POLL_MAX_INTERVAL_MS: maxIntervalMs, SCS_MAX_REQUESTS_PER_SECOND: perSecond } = this.environment;
    const reasons = findReasons(facts, { maxIntervalMs, perSecond });
    return { health: reasons.length === 0 ? 'healthy' : 'degraded', reasons, ...facts };
  }

  @Post('credentials/probe')
  @HttpCode(200)
  @Operation('admin', {
    summary: 'Request an access token from the remote service now',
    description:
      'After refused credentials, the next attempt waits up to 5 minutes. This makes it at once, for all replicas, at most every 5 seconds.',
  })
  @ApiOkResponse({ type: CredentialsProbeView, description: 'The result, whether there is a token or not' })
  async probeCredentials(@CurrentKey() key: Principal): Promise<CredentialsProbeView> {
    const outcome = await this.credentials.probe();
    const action = 'credentials.probed';
    await recordAudit(this.database, { actor: actorOf(key), action, target: 'token', details: { outcome } });
    const { lastError, nextAttemptAt } = await this.tokens.getStatus();
    return { outcome, lastError, nextAttemptAt };
  }
}
