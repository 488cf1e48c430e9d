import type { Stuck } from '../api/client.js';
import { useDrift, useStuck } from '../api/queries.js';
import { formatNumber } from '../format/words.js';
import { useNow } from '../parts/clock.js';
import { Link } from '../parts/link.js';
import { Empty, Loaded } from '../parts/loaded.js';
import { useMay } from '../parts/may.js';
import { Badge, Panel } from '../parts/panel.js';
import { Table } from '../parts/table.js';
import { Age, Instant } from '../parts/time.js';
import { WhatToDo } from '../parts/what-to-do.js';
import { isNew } from '../rules/needs.js';

export function StuckPage() {
  const stuck = useStuck();
  const now = useNow();
  return (
    <>
      <h1>Stuck</h1>
      <p className="soft">
        What does not continue by itself, or has not for too long. Read once a minute.{' '}
        <button
          type="button"
          className="small"
          disabled={stuck.isFetching}
          onClick={() => void stuck.refetch()}
        >
          Read again
        </button>
      </p>
      <Loaded query={stuck}>
        {(groups) => (
          <>
            {groups.length === 0 && <Empty>Nothing is stuck.</Empty>}
            {groups.map(({ kind, reason, count, oldest }) => (
              <Panel key={`${kind} ${reason}`} title={`${kind}: ${reason}`} isWide>
                <Table label={reason} rows={oldest} keyOf={({ id }) => id} columns={COLUMNS(now)} />
                {count > oldest.length && (
                  <p className="more">{formatNumber(count - oldest.length)} more for the same reason.</p>
                )}
              </Panel>
            ))}
          </>
        )}
      </Loaded>
      <Drift />
    </>
  );
}

const COLUMNS = (now: Date) => [
  {
    title: 'Since',
    of: (item: Stuck) => (
      <>
        <Age at={item.since} /> {isNew(item, now) && <Badge tone="attention">new</Badge>}
      </>
    ),
  },
  {
    title: 'Customer',
    of: ({ tenantReference }: Stuck) => tenantReference ?? <span className="soft">–</span>,
  },
  { title: 'Which', of: (item: Stuck) => <Which item={item} /> },
  { title: 'What to do', of: ({ whatToDo }: Stuck) => <WhatToDo text={whatToDo} /> },
];

function Which({ item: { kind, id } }: { readonly item: Stuck }) {
  const short = <code>{id.slice(0, 8)}</code>;
  switch (kind) {
    case 'session':
      return (
        <Link to="sessions" id={id}>
          {short}
        </Link>
      );
    case 'registration':
      return <Link to="registrations">{short}</Link>;
    case 'start':
    case 'inverter':
      return short;
  }
}

function Drift() {
  const may = useMay();
  const drift = useDrift(may('events:read'));
  if (!may('events:read')) return null;
  return (
    <Panel title="Drift of the interface" isWide>
      <p className="soft">
        Responses of the remote service that differ from the description of its interface.
      </p>
      <Loaded query={drift}>
        {(events) =>
          events.length === 0 ? (
            <Empty>All responses were as described.</Empty>
          ) : (
            <Table
              label="Drift of the interface"
              rows={[...events].reverse()}
              keyOf={({ id }) => id}
              columns={[
                { title: 'When', of: ({ time }) => <Instant at={time} /> },
                { title: 'Operation', of: ({ subject }) => subject },
                { title: 'Difference', of: ({ data }) => <code>{JSON.stringify(data)}</code> },
              ]}
            />
          )
        }
      </Loaded>
    </Panel>
  );
}
