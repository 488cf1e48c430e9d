import type { Overview } from '../../api/client.js';
import { formatLatency } from '../../format/duration.js';
import { formatNumber, wordsOf } from '../../format/words.js';
import { Badge, Facts, Panel, type Tone } from '../../parts/panel.js';
import { Table } from '../../parts/table.js';
import { Age, Instant } from '../../parts/time.js';
import { Trend } from '../../parts/trend.js';
import type { Point } from '../../rules/history.js';
import { OPERATIONS, operationRows, type OperationName, type OperationRow } from '../../rules/operations.js';
import { texts } from '../../texts.js';

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
    <Panel title={texts.duty.views.remote} isWide>
      <Table
        label={texts.remote.label}
        rows={operationRows(status)}
        keyOf={({ name }) => name}
        columns={[
          { title: texts.titles.operation, of: ({ name }) => OPERATIONS[name] },
          { title: texts.remote.health, of: ({ health }) => <Badge tone={TONES[health]}>{health}</Badge> },
          {
            title: texts.remote.callsIn5min,
            of: ({ calls, successShare }) =>
              successShare === null ? (
                <span className="soft">{texts.values.none}</span>
              ) : (
                texts.remote.calls(calls, successShare)
              ),
          },
          {
            title: texts.remote.percentiles,
            of: ({ p50Seconds, p95Seconds }) =>
              p50Seconds === null || p95Seconds === null ? (
                <span className="soft">–</span>
              ) : (
                `${formatLatency(p50Seconds)}, ${formatLatency(p95Seconds)}`
              ),
          },
          {
            title: texts.remote.lastSuccess,
            of: ({ lastSuccessAt }) => <Age at={lastSuccessAt} none={texts.values.noneYet} />,
          },
          {
            title: texts.remote.lastError,
            of: ({ lastError, lastErrorAt }) =>
              lastError === null ? (
                <span className="soft">{texts.values.none}</span>
              ) : (
                <>
                  {lastError}{' '}
                  <span className="soft">
                    <Age at={lastErrorAt} />
                  </span>
                </>
              ),
          },
          {
            title: texts.remote.heldBackBy,
            of: ({ heldBack }) => heldBack ?? <span className="soft">{texts.values.nobody}</span>,
          },
        ]}
      />
      <Facts
        facts={[
          [texts.remote.inFlight, texts.remote.inFlightOf(inFlight, limit.current, limit.ceiling)],
          [texts.remote.queued, texts.remote.queuedOf(queued.foreground, queued.background)],
          [
            texts.remote.ourLimit,
            rate === null
              ? texts.values.none
              : texts.remote.limitOf(rate.ceilingPerSecond, rate.isHoldingBack),
          ],
          [
            texts.remote.accessToken,
            <span key="token">
              {texts.remote.tokenOf(
                wordsOf(token.state),
                token.renewAt && <Instant at={token.renewAt} />,
                token.failures,
                token.lastError,
              )}
            </span>,
          ],
          [texts.remote.drift, texts.counts.difference(deployment.contractDrift)],
        ]}
      />
      <p className="soft">{texts.remote.explanation}</p>
      <div className="trends">
        {(Object.keys(OPERATIONS) as OperationName[]).flatMap((name) => [
          <Trend
            key={`p95 ${name}`}
            title={texts.remote.p95Of(OPERATIONS[name])}
            history={history}
            of={(point) => figuresOf(point, name)?.p95Seconds ?? null}
            top={0.1}
            format={formatLatency}
          />,
          <Trend
            key={`success ${name}`}
            title={texts.remote.answeredOf(OPERATIONS[name])}
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
