import type { Overview } from '../../api/client.js';
import { useStalled } from '../../api/queries.js';
import { formatNumber } from '../../format/words.js';
import { Link } from '../../parts/link.js';
import { Empty, Loaded } from '../../parts/loaded.js';
import { Facts, Panel } from '../../parts/panel.js';
import { Age } from '../../parts/time.js';
import { Trend } from '../../parts/trend.js';
import { texts } from '../../texts.js';

/** Shows the numbers of stalled sessions, by cause. */
export function StalledPanel({ history }: Pick<Overview, 'history'>) {
  const stalled = useStalled();
  return (
    <Panel
      title={texts.stalledSessions.title}
      more={
        <Link to="sessions" filters={{ stalled: 'any' }}>
          {texts.stalledSessions.all}
        </Link>
      }
    >
      <Loaded query={stalled}>
        {(groups) => {
          const causes = groups.filter(({ kind }) => kind === 'session');
          return causes.length === 0 ? (
            <Empty>{texts.stalledSessions.none}</Empty>
          ) : (
            <ul className="counts">
              {causes.map(({ cause, title, count }) => (
                <li key={cause}>
                  <Link to="sessions" filters={{ stalled: cause }}>
                    {title}
                  </Link>
                  <strong>{formatNumber(count)}</strong>
                </li>
              ))}
            </ul>
          );
        }}
      </Loaded>
      <Trend title={texts.stalledSessions.title} history={history} of={(point) => point.stalled} />
    </Panel>
  );
}

/** Shows the numbers of registrations and starts. */
export function OursPanel({ status: { registrations, starts, activity }, history }: Overview) {
  const { withOldest } = texts.ours;

  return (
    <Panel title={texts.ours.title} more={<Link to="registrations">{texts.pages.registrations}</Link>}>
      <Facts
        facts={[
          [
            texts.ours.toDecide,
            withOldest(
              texts.counts.registration(registrations.uncertain),
              registrations.oldestUncertainSeconds,
            ),
          ],
          [
            texts.ours.sentAgain,
            withOldest(texts.counts.registration(registrations.pending), registrations.oldestPendingSeconds),
          ],
          [
            texts.ours.rejected,
            <Link key="rejected" to="registrations" filters={{ status: 'rejected' }}>
              {texts.ours.in24h(texts.counts.registration(registrations.rejected))}
            </Link>,
          ],
          [
            texts.ours.starts,
            texts.ours.startsInLastHour(activity.startsPerHour, activity.usualStartsPerHour),
          ],
          [
            texts.ours.startsWithoutEnd,
            withOldest(texts.counts.start(starts.abandoned), starts.oldestAbandonedSeconds),
          ],
          [texts.ours.orphans, texts.ours.orphansOf(starts.orphans)],
          [texts.titles.lastChange, <Age key="last" at={activity.lastChangeAt} none={texts.ours.noChange} />],
        ]}
      />
      <Trend
        title={texts.ours.registrationsToDecide}
        history={history}
        of={(point) => point.uncertain}
        against={{ name: texts.ours.sentAgainLine, of: (point) => point.pending }}
      />
      <Trend title={texts.ours.startsPerHour} history={history} of={(point) => point.startsPerHour} />
    </Panel>
  );
}
