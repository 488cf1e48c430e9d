import { Controller, Get, HttpCode, Post } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { recordAudit } from '../../access/audit-log.store.js';
import { CurrentKey } from '../../access/current-key.decorator.js';
import { Operation } from '../../access/operation.decorator.js';
import { actorOf, type Principal } from '../../access/scopes.js';
import { TenantTokens } from '../../auth/tenant-tokens.service.js';
import { TokenStore } from '../../auth/token.store.js';
import { readBuild } from '../../platform/build.js';
import { Database } from '../../platform/database/database.js';
import { findTableLocks } from '../../platform/database/table-locks.js';
import { Environment } from '../../platform/env/environment.js';
import { HeldRequests } from '../../platform/http/held-requests.js';
import { Remote } from '../../remote/remote.service.js';
import { findReasons } from './health.rules.js';
import { StatusStore } from './status.store.js';
import { CredentialsProbeView, WORST_LAST } from './remote.view.js';
import { StatusView } from './status.view.js';

@ApiTags('Operation')
@Controller('status')
export class StatusController {
  constructor(
    private readonly remote: Remote,
    private readonly tokens: TokenStore,
    private readonly store: StatusStore,
    private readonly held: HeldRequests,
    private readonly tenantTokens: TenantTokens,
    private readonly database: Database,
    private readonly environment: Environment,
  ) {}

  // The scope is not `admin`, because apps must know whether sessions are up to date. The status has no personal data and no secret.
  @Get()
  @Operation('onboarding:read', {
    summary:
      'Status of the deployment: what is wrong, who is alive, the remote service, the poller and the outbox',
    description:
      'Replicas, backlogs, the token and `remote.deployment` concern the whole deployment; the rest of `remote` and the open streams concern the responding replica. Workers respond, too.',
  })
  @ApiOkResponse({ type: StatusView })
  async getStatus(): Promise<StatusView> {
    const [build, token, deployment, tableLocks] = await Promise.all([
      readBuild(),
      this.tokens.getStatus(),
      this.store.readFacts(),
      findTableLocks(this.database),
    ]);
    const {
      operations: _,
      tokenAgeSeconds: _age,
      pendingWishes: _wishes,
      replicas,
      remote: shared,
      ...queues
    } = deployment;
    const { outbox } = queues;
    const { degraded } = shared.deployment;
    const remote = this.remote.status();
    const healths = Object.values(remote.operations).map(({ health }) => health);
    // The token is shared: if another replica received the refusal, the operations of this replica may be healthy.
    if (token.state === 'rejected') healths.push('unavailable');
    else if (token.state === 'on_trial' || degraded.length > 0) healths.push('degraded');
    const health = WORST_LAST.findLast((each) => healths.includes(each))!;
    const streams = { open: this.held.count('stream') };
    const { broker, ...readers } = outbox.readers;
    const facts = {
      build,
      replicas,
      tableLocks,
      remote: { health, ...remote, ...shared },
      token,
      ...queues,
      outbox: { ...outbox, readers: { ...readers, streams, broker } },
    };
    const reasons = findReasons(facts, this.environment);
    return { health: reasons.length === 0 ? 'healthy' : 'degraded', reasons, ...facts };
  }

  @Post('credentials/probe')
  @HttpCode(200)
  @Operation('admin', {
    summary: 'Request an access token from the remote service now',
    description:
      'After refused credentials, the next attempt waits up to 5 minutes. This call makes the attempt now, for all replicas, at most once every 5 seconds.',
  })
  @ApiOkResponse({ type: CredentialsProbeView, description: 'The result, whether there is a token or not' })
  async probeCredentials(@CurrentKey() key: Principal): Promise<CredentialsProbeView> {
    const outcome = await this.tenantTokens.probe();
    const audit = {
      actor: actorOf(key),
      action: 'credentials.probed',
      target: 'token',
      details: { outcome },
    };
    await recordAudit(this.database, audit);
    const { lastError, nextAttemptAt } = await this.tokens.getStatus();
    return { outcome, lastError, nextAttemptAt };
  }
}
