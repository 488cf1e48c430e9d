import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { RequireScope } from '../access/require-scope.decorator.js';
import { AuthService } from '../auth/auth.service.js';
import { OpenStreams } from '../events/stream/open-streams.service.js';
import { Remote } from '../remote/remote.service.js';
import { StatusStore } from './status.store.js';
import { StatusView, toStatusView } from './status.view.js';

@ApiTags('Operation')
@Controller('status')
export class StatusController {
  constructor(
    private readonly remote: Remote,
    private readonly auth: AuthService,
    private readonly store: StatusStore,
    private readonly streams: OpenStreams,
  ) {}

  // onboarding:read, not admin: an app that shows sessions to people needs to know whether they are up to date, and nothing here is
  // personal or secret.
  @Get()
  @RequireScope('onboarding:read')
  @ApiOperation({
    operationId: 'getStatus',
    summary: 'Status of the remote service, the poller and the outbox',
    description:
      'Backlogs, the token and `remote.deployment` concern the whole deployment; the rest of `remote` and the open streams concern the responding replica.',
  })
  @ApiOkResponse({ type: StatusView })
  async read(): Promise<StatusView> {
    const [token, backlog, shared] = await Promise.all([
      this.auth.status(),
      this.store.readBacklog(),
      this.store.readSharedRemote(),
    ]);
    return toStatusView(this.remote.status(), shared, token, backlog, this.streams.count);
  }
}
