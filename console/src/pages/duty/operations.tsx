import type { Overview } from '../../api/client.js';
import { formatLatency } from '../../format/duration.js';
import { countOf, formatNumber, wordsOf } from '../../format/words.js';
import { Badge, Facts, Panel, type Tone } from '../../parts/panel.js';
import { Table } from '../../parts/table.js';
import { Age, Instant } from '../../parts/time.js';
import { Trend } from '../../parts/trend.js';
import type { Point } from '../../rules/history.js';
import { OPERATIONS, operationRows, type OperationName, type OperationRow } from '../../rules/operations.js';

const TONES: Readonly<Record<OperationRow['health'], Tone>> = {
  unknown: 'unknown',
  healthy: 'well',
  slow: 'attention',
  degraded: 'attention',
  blocked: 'attention',
};

const formatPercent = (percent: number): string => `${formatNumber(percent)} %`;

/** Shows for each of the four operations of the remote service whether it works, how fast it is, and what blocks its calls. */
export function OperationsPanel({ status, history }: Overview) {
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
            title: 'Calls in 5 min',
            of: ({ calls, successShare }) =>
              successShare === null ? (
                <span className="soft">none</span>
              ) : (
                `${formatNumber(calls)}, ${formatPercent(100 * successShare)} answered`
              ),
          },
          {
            title: 'p50, p95',
            of: ({ p50Seconds, p95Seconds }) =>
              p50Seconds === null || p95Seconds === null ? (
                <span className="soft">–</span>
              ) : (
                `${formatLatency(p50Seconds)}, ${formatLatency(p95Seconds)}`
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
                  , renews <Instant at={token.renewAt} />
                </>
              )}
              {token.failures > 0 && `, ${countOf(token.failures, 'failure')}: ${token.lastError}`}
            </span>,
          ],
          ['Interface drift', countOf(deployment.contractDrift, 'difference')],
        ]}
      />
      <p className="soft">
        Calls and percentiles are of all processes. A 404 counts as an answer, and so does one with a field
        that cannot be read: see the last error, the drift and the stalled sessions. The last success, the
        breaker and the queue are of the process that answered this page.
      </p>
      <div className="trends">
        {(Object.keys(OPERATIONS) as OperationName[]).flatMap((name) => [
          <Trend
            key={`${name} p95`}
            title={`${OPERATIONS[name]}, p95`}
            history={history}
            of={(point) => figuresOf(point, name)?.p95Seconds ?? null}
            top={0.1}
            format={formatLatency}
          />,
          <Trend
            key={`${name} success`}
            title={`${OPERATIONS[name]}, answered`}
            history={history}
            of={(point) => {
              const share = figuresOf(point, name)?.successShare ?? null;
              return share && 100 * share;
            }}
            top={100}
            format={formatPercent}
          />,
        ])}
      </div>
    </Panel>
  );
}

const figuresOf = ({ operations }: Point, name: OperationName) =>
  operations.find(({ operation }) => operation === name);
