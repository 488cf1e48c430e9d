import { Injectable } from '@nestjs/common';
import { BUCKETS, Metrics } from '../metrics/metrics.js';
import { Database } from './database.js';

@Injectable()
export class DatabaseMetrics {
  constructor(database: Database, metrics: Metrics) {
    const { pool } = database;
    metrics.gauge({
      name: 'pv_onboarding_database_pool_connections',
      help: 'Connections of the pool of this process, by state',
      labels: ['state'],
      collect: (gauge) => {
        gauge.set({ state: 'in_use' }, pool.totalCount - pool.idleCount);
        gauge.set({ state: 'idle' }, pool.idleCount);
      },
    });
    metrics.gauge({
      name: 'pv_onboarding_database_pool_limit',
      help: 'DATABASE_POOL_SIZE',
      collect: (gauge) => gauge.set(pool.options.max),
    });
    metrics.gauge({
      name: 'pv_onboarding_database_pool_waiting',
      help: 'Statements and transactions that wait for a connection of the pool of this process',
      collect: (gauge) => gauge.set(pool.waitingCount),
    });
    metrics.gauge({
      name: 'pv_onboarding_database_no_space',
      help: '1 if a statement of this process failed within 15 seconds because the server has no space left, else 0',
      collect: (gauge) => gauge.set(database.hasNoSpace() ? 1 : 0),
    });
    const seconds = metrics.histogram({
      name: 'pv_onboarding_database_statement_duration_seconds',
      help: 'Duration of SQL statements of this process, including the wait for a connection outside a transaction',
      // Most statements take less than a millisecond.
      buckets: [0.0001, 0.00025, 0.0005, ...BUCKETS],
    });
    database.measure((duration) => seconds.observe(duration));
  }
}
