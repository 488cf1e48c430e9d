import type { Overview } from '../../api/client.js';
import { formatSeconds } from '../../format/duration.js';
import { countOf, formatNumber, wordsOf } from '../../format/words.js';
import { Link } from '../../parts/link.js';
import { Facts, Panel } from '../../parts/panel.js';
import { Table } from '../../parts/table.js';
import { Trend } from '../../parts/trend.js';

/** A session that is read later than this counts as late, as in the reason `sessions_overdue`. */
const LATE_SECONDS = 120;

/** Shows how fresh the session data are: the reads that the schedule wants, the reads that the budget allows, and how late reads are. */
export function ReadingPanel({ status: { poller, budget }, history }: Overview) {
  const { stretch, wantedPerSecond, allowedPerSecond, noticed, late } = budget;
  const rateOf = (perSecond: number) => `${formatNumber(perSecond)} reads/s`;
  return (
    <Panel title="Freshness" more={<Link to="sessions">Sessions</Link>}>
      {poller === null ? (
        <p className="notice">Unknown: the table of the schedule is locked.</p>
      ) : (
        <>
          <Facts
            facts={[
              ['Watched', countOf(poller.watched, 'session')],
              [
                'Late',
                poller.overdue === 0
                  ? 'none: every read is in time'
                  : `${countOf(poller.overdue, 'session')}, the latest by ${formatSeconds(poller.oldestOverdueSeconds)} (target: under 2 min)`,
              ],
              ['Reading', rateOf(poller.readsPerSecond)],
              ['Wanted', rateOf(wantedPerSecond)],
              ['Allowed', allowedPerSecond === null ? 'no limit' : rateOf(allowedPerSecond)],
              [
                'Stretch',
                stretch <= 1.005
                  ? 'none: intervals as planned'
                  : `intervals ${formatNumber(stretch)} times as long as planned`,
              ],
              [
                'Changes noticed',
                noticed.p95Seconds === null
                  ? 'no new change in the last hour'
                  : `after ${formatSeconds(noticed.p50Seconds ?? 0)} (p50), ${formatSeconds(noticed.p95Seconds)} (p95)`,
              ],
            ]}
          />
          {poller.phases.length > 0 && (
            <Table
              label="How long ago sessions were read, by phase"
              rows={poller.phases}
              keyOf={({ phase }) => phase}
              columns={[
                { title: 'Phase', of: ({ phase }) => wordsOf(phase) },
                {
                  title: 'Last read, median',
                  of: (each) => formatSeconds(each.medianReadSeconds),
                  isNumber: true,
                },
                { title: 'Oldest due', of: (each) => formatSeconds(each.oldestReadSeconds), isNumber: true },
                {
                  title: 'Late',
                  of: ({ phase }) => formatNumber(late.find((each) => each.phase === phase)?.overdue ?? 0),
                  isNumber: true,
                },
              ]}
            />
          )}
        </>
      )}
      <Trend
        title="Reads per second"
        history={history}
        of={(point) => point.readsPerSecond}
        against={{ name: 'wanted', of: (point) => point.wantedPerSecond }}
      />
      <Trend
        title="Lateness"
        history={history}
        of={(point) => point.latenessSeconds}
        against={{ name: 'target', of: () => LATE_SECONDS }}
        format={formatSeconds}
      />
      <Trend
        title="Oldest due read"
        history={history}
        of={(point) => point.oldestReadSeconds}
        format={formatSeconds}
      />
      <Trend title="Stretch" history={history} of={(point) => point.stretch} />
    </Panel>
  );
}
