import { PROBE_OUTCOMES } from '../auth/tenant-tokens.service.js';
import { flag, nullable, oneOf, resourceOf, schemaOf, text, view } from '../platform/openapi/schema-of.js';
import { OPERATION_CLASSES } from '../remote/outcome.rules.js';
import { count, instant, list, number, part } from './figures.js';

export const WORST_LAST = ['unknown', 'healthy', 'degraded', 'unavailable'] as const;

class OperationView extends schemaOf({
  health: oneOf(WORST_LAST, '`unavailable` while calls are blocked'),
  breaker: oneOf(['closed', 'open', 'half_open'] as const),
  heldBackBy: nullable(
    oneOf(
      ['remote_service', 'breaker', 'ceiling'] as const,
      '`remote_service`: it asked to wait (Retry-After). `breaker`: it fails. `ceiling`: calls wait for our SCS_MAX_REQUESTS_PER_SECOND',
    ),
  ),
  retryAfterMs: nullable(count('How long calls remain blocked; null if they are not')),
  requestedWaitMs: nullable(count('The wait that the remote service asked for; null if none lasts')),
  lastSuccessAt: nullable(instant()),
  lastErrorAt: nullable(instant()),
  lastError: nullable(text()),
}) {}

export const REMOTE = part('RemoteView', 'The remote service as the responding replica sees it', {
  health: oneOf(
    WORST_LAST,
    'The worst health of its operations; `unavailable` while it refuses the credentials (`token.state` is `rejected`)',
  ),
  limit: part('LimitView', null, {
    current: count(
      'Calls that may be in flight at once now. Falls when the service refuses or times out; does not grow while fewer calls are in flight, so it stays low under our own pacing',
    ),
    ceiling: count('SCS_MAX_CONCURRENCY'),
  }),
  rate: nullable(
    part('RateView', 'null without SCS_MAX_REQUESTS_PER_SECOND', {
      ceilingPerSecond: number('SCS_MAX_REQUESTS_PER_SECOND, of the whole deployment'),
      isHoldingBack: flag('Whether calls wait for it now'),
    }),
  ),
  inFlight: count(),
  queued: part('QueueView', 'Calls that wait for their turn', {
    foreground: count('Calls that a caller waits for'),
    background: count(),
  }),
  operations: part('OperationsView', 'Each operation has its own circuit breaker', {
    token: view(OperationView),
    register_user: view(OperationView),
    start_session: view(OperationView),
    read_session: view(OperationView),
    pass_through: view(OperationView),
  }),
  deployment: part('DeploymentView', 'The state shared by all replicas', {
    degraded: list('DegradedOperationView', 'operation', 'Announced by an event when it begins', {
      operation: oneOf(OPERATION_CLASSES),
      health: oneOf(['degraded', 'credentials_rejected'] as const),
      since: instant(),
      reason: text(),
    }),
    calls: list('RecentCallsView', 'operation', 'The calls of all live replicas in the last 5 minutes', {
      operation: oneOf(OPERATION_CLASSES),
      succeeded: count(
        'Calls with a response that shows that the operation is served: a JSON object, whatever its fields, or a 4xx about the request itself such as 404',
      ),
      failed: count('All other calls: without such a response, with a 5xx, 401 or 403, or limited'),
      p50Seconds: nullable(
        number('Median duration of the successful calls, within 5 %; null if there are none'),
      ),
      p95Seconds: nullable(
        number('95th percentile of the duration of the successful calls, within 5 %; null if there are none'),
      ),
    }),
    contractDrift: count(
      'The number of ways in which its responses differ from the interface description (admin.contract_drift)',
      'contract_drift',
    ),
    newDrift: count('The ways among these that were first seen within the last hour'),
  }),
});

export const TOKEN = part('TokenView', 'The access token of the whole deployment, without its value', {
  state: oneOf(['none', 'valid', 'expired', 'on_trial', 'rejected'] as const),
  generation: count('Counts the tokens obtained'),
  ageSeconds: nullable(count()),
  obtainedAt: nullable(instant()),
  renewAt: nullable(instant()),
  expiresAt: nullable(instant()),
  expiresInRaw: nullable(text('`expires_in` as received from the service')),
  tokenType: nullable(text()),
  rejectedAt: nullable(instant()),
  failures: count(),
  lastError: nullable(text()),
  nextAttemptAt: nullable(instant()),
});

export class CredentialsProbeView extends resourceOf('credentials_probe', {
  outcome: oneOf(
    PROBE_OUTCOMES,
    '`valid`: the token is in order, nothing was sent. `token_issued`: the remote service issued a token; if it had refused calls, the next call tests it, and `token.state` shows the result. `refused`: it refused the token request; it does not say whether for the API key or for the client. `no_token`: no usable response. `too_soon`: another token request runs, or the last probe was less than 5 seconds ago; nothing was sent',
  ),
  lastError: nullable(
    text('The last failure of the token, redacted; null if nothing has failed since the last success'),
  ),
  nextAttemptAt: nullable(instant('When the next attempt is due if nobody probes; null if none waits')),
}) {}
