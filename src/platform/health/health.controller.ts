import { Controller, Get, Logger, Res, type OnModuleDestroy } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiServiceUnavailableResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { within } from '../async/within.js';
import { Database, sqlState } from '../database/database.js';
import { findMissingMigrations, proveWritable } from '../database/migrate.js';
import { findTableLocks } from '../database/table-locks.js';
import { Public } from '../http/public.decorator.js';
import { field, oneOf, schemaOf } from '../openapi/schema-of.js';
import { isDatabaseUnavailable } from '../problem/database-unavailable.js';
import { errorText } from '../redaction/error-text.js';

/** Less than the usual timeout of a health probe, 1 s. */
const PROBE_MS = 900;
const READ_ONLY = '25006';

const LivenessView = schemaOf('LivenessView', { status: oneOf(['live']) });

const ReadinessView = schemaOf('ReadinessView', {
  status: oneOf(['ready', 'unready']),
  missing: field<string[]>({ type: [String] }, 'What is missing, for people; empty when ready'),
  warnings: field<string[]>({ type: [String] }, 'Who locks our tables against writing, for people'),
});

@ApiTags('Operation')
@Controller('health')
export class HealthController implements OnModuleDestroy {
  private readonly logger = new Logger(HealthController.name);
  private draining = false;
  private check: Promise<string[]> | undefined;
  /** As of the last check. Not a reason to be unready: other replicas would find the same. */
  private warnings: string[] = [];

  constructor(private readonly database: Database) {}

  @Get('live')
  @Public()
  @ApiOperation({
    operationId: 'getLiveness',
    summary: 'Whether the process responds',
    description: 'Does not query the database: restarting this process would not repair it.',
  })
  @ApiOkResponse({ type: LivenessView })
  live() {
    return { status: 'live' };
  }

  @Get('ready')
  @Public()
  @ApiOperation({
    operationId: 'getReadiness',
    summary: 'Whether requests should be sent here',
    description:
      'Checks within 0.9 seconds that the database has every migration and commits writes, and that the service is not stopping.',
  })
  @ApiOkResponse({ description: 'The database has every migration and commits writes', type: ReadinessView })
  @ApiServiceUnavailableResponse({ description: 'Not ready: `missing` has the reasons', type: ReadinessView })
  async ready(@Res({ passthrough: true }) reply: FastifyReply) {
    const missing = await this.missing();
    const isReady = missing.length === 0;
    reply.status(isReady ? 200 : 503);
    return { status: isReady ? 'ready' : 'unready', missing, warnings: isReady ? this.warnings : [] };
  }

  /** Makes the service unready, for good. */
  drain(): void {
    this.draining = true;
  }

  // Nest's first shutdown hook, so that load balancers stop sending requests while those in flight complete.
  onModuleDestroy(): void {
    this.drain();
  }

  /** Returns why the service is not ready, in words; an empty list if it is ready. */
  async missing(): Promise<string[]> {
    if (this.draining) return ['the service is stopping'];
    // One check at a time, so that checks of a database that does not respond cannot use up its connections.
    this.check ??= this.missingOfDatabase().finally(() => (this.check = undefined));
    return within(PROBE_MS, this.check, () => [`the database has not answered within ${PROBE_MS} ms`]);
  }

  private async missingOfDatabase(): Promise<string[]> {
    if (this.database.hasNoSpace()) return ['the database has no space left'];
    try {
      const missing = await findMissingMigrations(this.database);
      if (missing === null) return ['no migration is applied'];
      if (missing.length === 0) await proveWritable(this.database);
      this.warnings = await findTableLocks(this.database);
      return missing.map((name) => `the migration ${name} is not applied`);
    } catch (error) {
      if (sqlState(error) === READ_ONLY) return ['the database is read-only'];
      if (isDatabaseUnavailable(error)) return ['the database cannot be reached'];
      this.logger.warn(`readiness could not be checked: ${errorText(error)}`);
      return ['the database refuses the check'];
    }
  }
}
