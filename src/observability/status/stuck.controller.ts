import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Operation } from '../../access/operation.decorator.js';
import { Database } from '../../platform/database/database.js';
import { whereOf } from '../../platform/database/where.js';
import { CursorOf, LimitQuery, toPage, type Page } from '../../platform/http/page.js';
import { ChoiceParameter } from '../../platform/http/parameters.js';
import { ApiPage } from '../../platform/openapi/api-page.decorator.js';
import { ApiProblems } from '../../platform/openapi/api-problems.decorator.js';
import * as schema from '../../platform/openapi/schema-of.js';

const KINDS = ['session', 'registration', 'start', 'inverter'] as const;

const StuckView = schema.schemaOf('StuckView', {
  kind: schema.oneOf(KINDS),
  id: schema.uuid('Id of the session, registration, start or inverter'),
  tenantReference: schema.nullable(schema.text('null once the user has been erased, and for an inverter')),
  reason: schema.text('What is wrong, in words without times and counts, so that it can be grouped'),
  since: schema.instant(),
  whatToDo: schema.text('The next step for a person'),
});
type StuckView = InstanceType<typeof StuckView>;

const StuckGroupView = schema.schemaOf('StuckGroupView', {
  kind: schema.oneOf(KINDS),
  reason: schema.text(),
  count: schema.count('How many there are'),
  new: schema.count('How many of these began within the last 24 hours'),
  oldest: schema.listOf(StuckView, 'The oldest of these, at most 50'),
});
type StuckGroupView = InstanceType<typeof StuckGroupView>;

const StuckGroupsView = schema.schemaOf('StuckGroupsView', {
  items: schema.listOf(StuckGroupView, 'At most 200 groups'),
});

class StuckQuery extends LimitQuery {
  @ChoiceParameter(KINDS, 'Only this kind')
  kind?: (typeof KINDS)[number];

  @CursorOf({ at: 'instant', id: 'uuid' })
  cursor?: { readonly at: Date; readonly id: string };
}

@ApiTags('Operation')
@Controller('stuck')
export class StuckController {
  constructor(private readonly database: Database) {}

  @Get()
  @Operation('onboarding:read', {
    summary: 'List what does not continue by itself, or has not for too long, the oldest first',
    description:
      'The same as `admin.stuck`. It reads every open session, so do not request it more often than once a minute.',
  })
  @ApiPage(StuckView)
  @ApiProblems('invalid_request')
  async listStuck(@Query() { limit, kind, cursor }: StuckQuery): Promise<Page<StuckView>> {
    const { where, values } = whereOf([
      ['kind = ?', kind],
      ['(since, id) > (?, ?::uuid)', cursor?.at, cursor?.id],
    ]);
    const rows = await this.database.query<StuckView>(
      `SELECT kind, id, tenant_reference AS "tenantReference", reason, since, what_to_do AS "whatToDo"
         FROM admin.stuck ${where} ORDER BY since, id LIMIT ${limit + 1}`,
      values,
    );
    return toPage(rows, limit, ({ since, id }) => [since, id]);
  }

  @Get('groups')
  @Operation('onboarding:read', {
    summary: 'Count what is stuck by its kind and reason, with the oldest of each',
    description:
      'The groups with the most new items come first, of these the largest. It costs as much as one page of `GET /stuck`.',
  })
  @ApiOkResponse({ type: StuckGroupsView })
  async groupStuck(): Promise<{ readonly items: StuckGroupView[] }> {
    return { items: await this.database.query<StuckGroupView>(GROUP) };
  }
}

const GROUP = `
  SELECT kind, reason, count(*)::int, count(*) FILTER (WHERE since > now() - interval '24 h')::int AS new,
    jsonb_agg(jsonb_build_object('kind', kind, 'id', id, 'tenantReference', tenant_reference, 'reason', reason,
        'since', to_char(since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'whatToDo', what_to_do) ORDER BY since, id) FILTER (WHERE number <= 50) AS oldest
    FROM (SELECT *, row_number() OVER (PARTITION BY kind, reason ORDER BY since, id) AS number FROM admin.stuck) AS stuck
   GROUP BY kind, reason
   ORDER BY new DESC, count(*) DESC, kind, reason
   LIMIT 200`;
