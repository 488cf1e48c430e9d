import { field, flag, listOf, nullable, oneOf, schemaOf, text } from '../platform/openapi/schema-of.js';
import type { ObjectOf } from '../platform/openapi/schema-of.js';
import { OPERATION_CLASSES, type OperationClass } from '../remote/outcome.rules.js';
import { count, instant, number } from './figures.js';
import type { CallCounts } from './signs/recent-calls.js';

class LatestCallsView extends schemaOf({
  operation: oneOf(OPERATION_CLASSES),
  calls: count(),
  slow: count('Calls among these that took over 2 seconds'),
}) {}

class CertificatesView extends schemaOf({
  name: text('The setting that names the file'),
  expiresAt: text('When the first certificate in it expires that is needed'),
  isExpiring: flag('Whether that is within 30 days or, if that is shorter, a third of its lifetime'),
  fault: nullable(text('Why the renewed file is not used; null if the file is in use as it is')),
}) {}

/** What a replica reports of itself with each sign of life. */
const SIGNS = {
  version: text(),
  commit: nullable(text('null if it is unknown')),
  newestMigration: nullable(text('The newest migration that its release has')),
  remoteService: nullable(text('Its SCS_BASE_URL; null if its release does not tell it')),
  slow: field<OperationClass[]>(
    { enum: OPERATION_CLASSES, isArray: true },
    'The operations of the remote service that took over 2 seconds in most of its latest calls',
  ),
  requests: count('Requests to our API in its last minute'),
  failedRequests: count('Requests among these that failed by a fault of ours'),
  refusedRequests: count('Requests among these that were refused with a 4xx'),
  waitingForConnectionsSeconds: number(
    'How long its statements have waited for connections to the database; 0 if none waits',
  ),
  longestStatement: nullable(text('What has had a connection longest, while statements wait for one')),
  hasNoSpace: flag('Whether a statement failed lately because the database has no space left'),
  proxyFault: nullable(
    text(
      'Why the outbound proxy opens no connections to the remote service; null if it does, or if there is none',
    ),
  ),
  certificates: listOf(CertificatesView, 'The files with certificates that it uses'),
  latestCalls: listOf(
    LatestCallsView,
    'Its latest successful calls of the remote service, at most 20 of each operation and of 5 minutes',
  ),
};

/** `recentCalls`: what the status adds up for all replicas. */
export type Signs = ObjectOf<typeof SIGNS> & {
  readonly recentCalls: Readonly<Partial<Record<OperationClass, CallCounts>>>;
};

export class ReplicaView extends schemaOf({
  name: text('Host and process id, as in its log lines'),
  role: oneOf(['api', 'worker', 'all'] as const),
  isAlive: flag('Whether it showed a sign of life in the last 5 seconds'),
  startedAt: instant(),
  lastSeenAt: instant('Its last sign of life'),
  readsPerSecond: number('Successful reads of sessions, in the last 10 seconds'),
  pacedSince: nullable(
    instant('Since when its calls have waited for SCS_MAX_REQUESTS_PER_SECOND; null if none waits'),
  ),
  stoppedAt: nullable(instant('When it stopped in order; null if it runs or has vanished')),
  clockOffsetSeconds: number(
    'By how much its clock is ahead of that of the database, at its last sign of life',
  ),
  ...SIGNS,
}) {}
