import { seriesOf } from '../../api/history.js';
import type { Status } from '../../api/client.js';
import { countOf, formatNumber, wordsOf } from '../../format/words.js';
import { Badge, Facts, Panel, type Tone } from '../../parts/panel.js';
import { Table } from '../../parts/table.js';
import { Age, Instant } from '../../parts/time.js';
import { Trend } from '../../parts/trend.js';
import { OPERATIONS, operationRows, type OperationRow } from '../../rules/operations.js';

const TONES: Readonly<Record<OperationRow['health'], Tone>> = {
  unknown: 'unknown',
  healthy: 'well',
  slow: 'attention',
  degraded: 'attention',
  blocked: 'attention',
};

/** The four operations of the remote service: whether they work, how fast, and who holds them back. */
export function OperationsPanel({ status }: { readonly status: Status }) {
  const { limit, rate, inFlight, queued, deployment } = status.remote;
  const { token } = status;
  return (
    <Panel title="Remote service" isWide>
      <Table
        label="Operations of the remote service"
        rows={operationRows(status)}
        keyOf={({ name }) => name}
        columns={[
          { title: 'Operation', of: ({ name }) => OPERATIONS[name] },
          { title: 'Health', of: ({ health }) => <Badge tone={TONES[health]}>{health}</Badge> },
          {
            title: 'Latest calls',
            of: ({ calls, slow }) =>
              calls === 0 ? (
                <span className="soft">none in 5 min</span>
              ) : (
                `${countOf(calls, 'success', 'successes')}, ${formatNumber(slow)} over 2 s`
              ),
          },
          { title: 'Last success', of: ({ lastSuccessAt }) => <Age at={lastSuccessAt} none="none yet" /> },
          {
            title: 'Last error',
            of: ({ lastError, lastErrorAt }) =>
              lastError === null ? (
                <span className="soft">none</span>
              ) : (
                <>
                  {lastError}{' '}
                  <span className="soft">
                    <Age at={lastErrorAt} />
                  </span>
                </>
              ),
          },
          { title: 'Held back by', of: ({ heldBack }) => heldBack ?? <span className="soft">nobody</span> },
        ]}
      />
      <Facts
        facts={[
          [
            'In flight',
            `${countOf(inFlight, 'call')} of ${limit.current} at once (at most ${limit.ceiling})`,
          ],
          [
            'Queued',
            `${countOf(queued.foreground, 'call')} that somebody waits for, ${formatNumber(queued.background)} other`,
          ],
          [
            'Our limit',
            rate === null
              ? 'none'
              : `${formatNumber(rate.ceilingPerSecond)} requests/s${rate.isHoldingBack ? ', holding back' : ''}`,
          ],
          [
            'Access token',
            <span key="token">
              {wordsOf(token.state)}
              {token.renewAt !== null && (
                <>
                  , renewed <Instant at={token.renewAt} />
                </>
              )}
              {token.failures > 0 && `, ${countOf(token.failures, 'failure')}: ${token.lastError}`}
            </span>,
          ],
          ['Interface drift', countOf(deployment.contractDrift, 'difference')],
        ]}
      />
      <p className="soft">
        Calls and slowness are of all processes; the last success, the breaker and the queue are of the one
        that responded.
      </p>
      <Trend title="Slow calls, % of the latest, since this page was opened" points={seriesOf('slowShare')} />
    </Panel>
  );
}
