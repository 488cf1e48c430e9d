import type { Overview } from '../../api/client.js';
import { formatSeconds } from '../../format/duration.js';
import { formatNumber, wordsOf } from '../../format/words.js';
import { Link } from '../../parts/link.js';
import { Facts, Panel } from '../../parts/panel.js';
import { Table } from '../../parts/table.js';
import { Trend } from '../../parts/trend.js';
import { texts } from '../../texts.js';

/** A session that is read later than this counts as late, as in the reason `sessions_overdue`. */
const LATE_SECONDS = 120;

/** Shows how fresh the session data are: the reads that the schedule wants, the reads that the budget allows, and how late reads are. */
export function ReadingPanel({ status: { poller, budget }, history }: Overview) {
  const { stretch, wantedPerSecond, allowedPerSecond, noticed, late } = budget;
  const rateOf = texts.freshness.rate;
  return (
    <Panel title={texts.duty.views.freshness} more={<Link to="sessions">{texts.pages.sessions}</Link>}>
      {poller === null ? (
        <p className="notice">{texts.freshness.locked}</p>
      ) : (
        <>
          <Facts
            facts={[
              [texts.freshness.watched, texts.counts.session(poller.watched)],
              [
                texts.freshness.late,
                poller.overdue === 0
                  ? texts.freshness.noneLate
                  : texts.freshness.lateBy(poller.overdue, poller.oldestOverdueSeconds),
              ],
              [texts.freshness.reading, rateOf(poller.readsPerSecond)],
              [texts.freshness.wanted, rateOf(wantedPerSecond)],
              [
                texts.freshness.allowed,
                allowedPerSecond === null ? texts.freshness.noLimit : rateOf(allowedPerSecond),
              ],
              [
                texts.freshness.stretch,
                stretch <= 1.005 ? texts.freshness.noStretch : texts.freshness.stretchedBy(stretch),
              ],
              [
                texts.freshness.changesNoticed,
                noticed.p95Seconds === null
                  ? texts.freshness.noChange
                  : texts.freshness.noticedWithin(noticed.p50Seconds ?? 0, noticed.p95Seconds),
              ],
            ]}
          />
          {poller.phases.length > 0 && (
            <Table
              label={texts.freshness.byPhase}
              rows={poller.phases}
              keyOf={({ phase }) => phase}
              columns={[
                { title: texts.freshness.phase, of: ({ phase }) => wordsOf(phase) },
                {
                  title: texts.freshness.lastReadMedian,
                  of: (each) => formatSeconds(each.medianReadSeconds),
                  isNumber: true,
                },
                {
                  title: texts.freshness.oldestDue,
                  of: (each) => formatSeconds(each.oldestReadSeconds),
                  isNumber: true,
                },
                {
                  title: texts.freshness.late,
                  of: ({ phase }) => formatNumber(late.find((each) => each.phase === phase)?.overdue ?? 0),
                  isNumber: true,
                },
              ]}
            />
          )}
        </>
      )}
      <Trend
        title={texts.freshness.readsPerSecond}
        history={history}
        of={(point) => point.readsPerSecond}
        against={{ name: texts.freshness.wantedLine, of: (point) => point.wantedPerSecond }}
      />
      <Trend
        title={texts.freshness.lateness}
        history={history}
        of={(point) => point.latenessSeconds}
        against={{ name: texts.freshness.targetLine, of: () => LATE_SECONDS }}
        format={formatSeconds}
      />
      <Trend
        title={texts.freshness.oldestDueRead}
        history={history}
        of={(point) => point.oldestReadSeconds}
        format={formatSeconds}
      />
      <Trend title={texts.freshness.stretch} history={history} of={(point) => point.stretch} />
    </Panel>
  );
}
