import { randomUUID } from 'node:crypto';
import type { Database } from '../../src/platform/database/database.js';
import type { Signs } from '../../src/status/replica.view.js';

/** The figures of a process without load. */
export const QUIET: Signs = {
  requests: 0,
  failedRequests: 0,
  refusedRequests: 0,
  waitingForConnectionsSeconds: 0,
  longestStatement: null,
  hasNoSpace: false,
  proxyFault: null,
  certificates: [],
  slow: [],
  latestCalls: [],
  recentCalls: {},
  version: '0.1.0',
  commit: null,
  newestMigration: '20261120000000_tables',
  remoteService: null,
};

interface Row {
  readonly name: string;
  readonly role: 'api' | 'worker';
  readonly expiresAt: Date;
  readonly joinedAt?: Date;
  readonly seenAt?: Date;
  readonly readsPerSecond?: number;
}

/** Records the sign of life of another process. */
export async function insertReplica({ prisma }: Database, row: Row, signs?: Partial<Signs>): Promise<void> {
  const data = { id: randomUUID(), clockOffsetSeconds: 0, ...row, signs: { ...QUIET, ...signs } as object };
  await prisma.remoteReplica.create({ data });
}

export const fromNow = (seconds: number): Date => new Date(Date.now() + seconds * 1_000);
