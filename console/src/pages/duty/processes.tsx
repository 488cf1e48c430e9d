import type { Overview, Status } from '../../api/client.js';
import { formatSeconds } from '../../format/duration.js';
import { formatNumber } from '../../format/words.js';
import { Empty } from '../../parts/loaded.js';
import { Badge, Panel } from '../../parts/panel.js';
import { Table } from '../../parts/table.js';
import { Age } from '../../parts/time.js';
import { Trend } from '../../parts/trend.js';
import { blockersOf } from '../../rules/blocker.js';
import { texts } from '../../texts.js';

type Replica = Status['replicas'][number];

/** Shows the processes by role, with their last signs of life. */
export function ReplicasPanel({ status: { replicas }, history }: Overview) {
  const alive = replicas.filter(({ isAlive }) => isAlive);
  const roles = (['api', 'worker', 'all'] as const).flatMap((role) => {
    const count = alive.filter((each) => each.role === role).length;
    return count === 0 ? [] : [[role, count] as const];
  });
  return (
    <Panel title={texts.duty.views.processes} isWide>
      <p>{roles.length === 0 ? texts.processes.none : texts.processes.alive(roles)}</p>
      <Table
        label={texts.duty.views.processes}
        rows={replicas}
        keyOf={({ name, startedAt }) => name + startedAt}
        columns={[
          { title: texts.processes.process, of: ({ name }) => <code>{name}</code> },
          { title: texts.processes.role, of: ({ role }) => role ?? texts.values.unknown },
          { title: texts.titles.state, of: (each) => <Life of={each} /> },
          { title: texts.processes.lastSign, of: ({ lastSeenAt }) => <Age at={lastSeenAt} /> },
          {
            title: texts.processes.requestsPerMinute,
            of: ({ requests, failedRequests, refusedRequests }) =>
              texts.processes.requests(requests, failedRequests, refusedRequests),
          },
          {
            title: texts.processes.readsPerSecond,
            of: ({ readsPerSecond }) => formatNumber(readsPerSecond),
            isNumber: true,
          },
          {
            title: texts.processes.release,
            of: ({ version, commit }) => [version, commit?.slice(0, 8)].filter(Boolean).join(' '),
          },
        ]}
      />
      <Trend title={texts.processes.live} history={history} of={(point) => point.liveReplicas} />
    </Panel>
  );
}

function Life({ of: { isAlive, stoppedAt } }: { readonly of: Replica }) {
  if (isAlive) return <Badge tone="well">{texts.processes.isAlive}</Badge>;
  return stoppedAt === null ? (
    <Badge tone="attention">{texts.processes.vanished}</Badge>
  ) : (
    <Badge tone="quiet">{texts.processes.stopped}</Badge>
  );
}

/** Shows what blocks the database, such as locks and old transactions. */
export function DatabasePanel({ status, history }: Overview) {
  const blockers = blockersOf(status);
  const { oldestTransaction } = status;
  return (
    <Panel title={texts.database.title}>
      {blockers.length === 0 ? (
        <Empty>{texts.database.notBlocked}</Empty>
      ) : (
        <ul className="blockers">
          {blockers.map((each) => (
            <li key={each}>{each}</li>
          ))}
        </ul>
      )}
      <p className="soft">
        {oldestTransaction === null
          ? texts.database.noTransaction
          : texts.database.oldest(oldestTransaction.seconds)}{' '}
        {texts.database.locks(status.tableLocks.length)}
      </p>
      <Trend
        title={texts.database.oldestTransaction}
        history={history}
        of={(point) => point.oldestTransactionSeconds}
        format={formatSeconds}
      />
    </Panel>
  );
}
