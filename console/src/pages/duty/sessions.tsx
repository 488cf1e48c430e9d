import type { Overview } from '../../api/client.js';
import { useStalled } from '../../api/queries.js';
import { formatSeconds } from '../../format/duration.js';
import { countOf, formatNumber } from '../../format/words.js';
import { Link } from '../../parts/link.js';
import { Empty, Loaded } from '../../parts/loaded.js';
import { Facts, Panel } from '../../parts/panel.js';
import { Age } from '../../parts/time.js';
import { Trend } from '../../parts/trend.js';

/** Shows the numbers of stalled sessions, by cause. */
export function StalledPanel({ history }: Pick<Overview, 'history'>) {
  const stalled = useStalled();
  return (
    <Panel
      title="Stalled sessions"
      more={
        <Link to="sessions" filters={{ stalled: 'any' }}>
          All stalled
        </Link>
      }
    >
      <Loaded query={stalled}>
        {(groups) => {
          const causes = groups.filter(({ kind }) => kind === 'session');
          return causes.length === 0 ? (
            <Empty>No session waits for longer than can be expected.</Empty>
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
      <Trend title="Stalled sessions" history={history} of={(point) => point.stalled} />
    </Panel>
  );
}

/** Shows the numbers of registrations and starts. */
export function OursPanel({ status: { registrations, starts, activity }, history }: Overview) {
  const since = (seconds: number) => (seconds === 0 ? '' : `, the oldest for ${formatSeconds(seconds)}`);
  const usually = (count: number | null) =>
    count === null || count === 0 ? '' : ` (usually at least ${formatNumber(count)})`;
  return (
    <Panel title="Registrations and starts" more={<Link to="registrations">Registrations</Link>}>
      <Facts
        facts={[
          [
            'To decide',
            `${countOf(registrations.uncertain, 'registration')}${since(registrations.oldestUncertainSeconds)}`,
          ],
          [
            'Sent again',
            `${countOf(registrations.pending, 'registration')}${since(registrations.oldestPendingSeconds)}`,
          ],
          [
            'Rejected',
            <Link key="rejected" to="registrations" filters={{ status: 'rejected' }}>
              {`${countOf(registrations.rejected, 'registration')} in 24 h`}
            </Link>,
          ],
          [
            'Starts',
            `${formatNumber(activity.startsPerHour)} in the last hour${usually(activity.usualStartsPerHour)}`,
          ],
          [
            'Starts without end',
            `${countOf(starts.abandoned, 'start')}${since(starts.oldestAbandonedSeconds)}`,
          ],
          ['Orphans', `${countOf(starts.orphans, 'remote session')} in 24 h whose id nobody knows`],
          ['Last change', <Age key="last" at={activity.lastChangeAt} none="no session has changed yet" />],
        ]}
      />
      <Trend
        title="Registrations to decide"
        history={history}
        of={(point) => point.uncertain}
        against={{ name: 'sent again', of: (point) => point.pending }}
      />
      <Trend title="Starts per hour" history={history} of={(point) => point.startsPerHour} />
    </Panel>
  );
}
