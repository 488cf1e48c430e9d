import type { Overview, Status } from '../../api/client.js';
import { formatSeconds } from '../../format/duration.js';
import { countOf, formatNumber } from '../../format/words.js';
import { Empty } from '../../parts/loaded.js';
import { Badge, Panel } from '../../parts/panel.js';
import { Table } from '../../parts/table.js';
import { Age } from '../../parts/time.js';
import { Trend } from '../../parts/trend.js';
import { blockersOf } from '../../rules/blocker.js';

type Replica = Status['replicas'][number];

/** Shows the processes by role, with their last signs of life. */
export function ReplicasPanel({ status: { replicas }, history }: Overview) {
  const alive = replicas.filter(({ isAlive }) => isAlive);
  const roles = (['api', 'worker', 'all'] as const).flatMap((role) => {
    const count = alive.filter((each) => each.role === role).length;
    return count === 0 ? [] : [`${formatNumber(count)} with the role ${role}`];
  });
  return (
    <Panel title="Processes" isWide>
      <p>{roles.length === 0 ? 'None is alive.' : `Alive: ${roles.join(', ')}.`}</p>
      <Table
        label="Processes"
        rows={replicas}
        keyOf={({ name, startedAt }) => name + startedAt}
        columns={[
          { title: 'Process', of: ({ name }) => <code>{name}</code> },
          { title: 'Role', of: ({ role }) => role ?? 'unknown' },
          { title: 'State', of: (each) => <Life of={each} /> },
          { title: 'Last sign of life', of: ({ lastSeenAt }) => <Age at={lastSeenAt} /> },
          {
            title: 'Requests/min',
            of: ({ requests, failedRequests, refusedRequests }) =>
              `${formatNumber(requests)}, ${formatNumber(failedRequests)} failed, ${formatNumber(refusedRequests)} refused`,
          },
          { title: 'Reads/s', of: ({ readsPerSecond }) => formatNumber(readsPerSecond), isNumber: true },
          {
            title: 'Release',
            of: ({ version, commit }) => [version, commit?.slice(0, 8)].filter(Boolean).join(' '),
          },
        ]}
      />
      <Trend title="Live processes" history={history} of={(point) => point.liveReplicas} />
    </Panel>
  );
}

function Life({ of: { isAlive, stoppedAt } }: { readonly of: Replica }) {
  if (isAlive) return <Badge tone="well">alive</Badge>;
  return stoppedAt === null ? <Badge tone="attention">vanished</Badge> : <Badge tone="quiet">stopped</Badge>;
}

/** Shows what blocks the database, such as locks and old transactions. */
export function DatabasePanel({ status, history }: Overview) {
  const blockers = blockersOf(status);
  const { oldestTransaction } = status;
  return (
    <Panel title="Database">
      {blockers.length === 0 ? (
        <Empty>Nobody blocks it.</Empty>
      ) : (
        <ul className="blockers">
          {blockers.map((each) => (
            <li key={each}>{each}</li>
          ))}
        </ul>
      )}
      <p className="soft">
        {oldestTransaction === null
          ? 'No open transaction is visible to the service.'
          : `The oldest open transaction: ${formatSeconds(oldestTransaction.seconds)}.`}{' '}
        Locks against writing: {countOf(status.tableLocks.length, 'table')}.
      </p>
      <Trend
        title="Oldest open transaction"
        history={history}
        of={(point) => point.oldestTransactionSeconds}
        format={formatSeconds}
      />
    </Panel>
  );
}
