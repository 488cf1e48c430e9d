import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Operation } from '../access/operation.decorator.js';
import { Database } from '../platform/database/database.js';
import { ChoiceParameter, InstantParameter } from '../platform/http/parameters.js';
import { invalidRequest } from '../platform/http/validation.js';
import { FunnelStore, type FunnelKey } from './funnel.store.js';
import { FunnelPage, FunnelView } from './funnel.view.js';
import { Query } from '../platform/http/query.decorator.js';

const DEFAULT_DAYS = 30;
const DAY_MS = 86_400_000;

class FunnelQuery {
  @InstantParameter(
    'Invitations created at or after this instant. Default: the beginning, in UTC, of the day 30 days before `to`',
  )
  from?: Date;

  @InstantParameter('Invitations created before this instant. Default: now')
  to?: Date;

  @ChoiceParameter(['day', 'brand', 'campaign'], 'Default: day')
  by?: FunnelKey;
}

@ApiTags('Invitations')
@Controller('funnel')
export class FunnelController {
  constructor(
    private readonly store: FunnelStore,
    private readonly database: Database,
  ) {}

  @Get()
  @Operation('onboarding:read', {
    command: 'funnel',
    columns: {
      KEY: 'key',
      INVITED: 'invited',
      OPENED: 'opened',
      STARTED: 'started',
      DONE: 'ownerDone',
      ONLINE: 'online',
      EXPIRED: 'expired',
      DECLINED: 'declined',
      'MEDIAN S': 'medianSecondsToOnline',
    },
    summary: 'Count invitations by the steps that they reached',
    description:
      'Each invitation counts once, however many sessions its owner started. By brand, it counts once for each of its brands, with the steps ' +
      'of the whole invitation: one with two brands is online under both once the location is online with both.',
  })
  @ApiOkResponse({ type: FunnelPage })
  async readFunnel(@Query() query: FunnelQuery) {
    const { by = 'day', to = await this.database.now(), from = defaultFrom(to) } = query;
    if (from >= to) throw invalidRequest([{ field: 'from', message: 'must be before `to`' }]);
    return { items: (await this.store.count(by, from, to)).map(FunnelView.of) };
  }
}

/** Returns the beginning of a day, so that the first day of a funnel is complete, as in admin.funnel. */
function defaultFrom(to: Date): Date {
  return new Date((Math.floor(to.getTime() / DAY_MS) - DEFAULT_DAYS) * DAY_MS);
}
