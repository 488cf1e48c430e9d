import type { Schemas } from '#client/client.js';
import type { Stuck, StuckGroup } from '../api/client.js';
import { useDrift, useStuck } from '../api/queries.js';
import { formatNumber, wordsOf } from '../format/words.js';
import { useNow } from '../parts/clock.js';
import { Link } from '../parts/link.js';
import { Empty, Loaded } from '../parts/loaded.js';
import { useMay } from '../parts/may.js';
import { Badge, Panel } from '../parts/panel.js';
import { SessionLink, ShortId } from '../parts/short-id.js';
import { Table } from '../parts/table.js';
import { Age, Instant } from '../parts/time.js';
import { WhatToDo } from '../parts/what-to-do.js';
import { commonStep, isNew } from '../rules/needs.js';

export function StuckPage() {
  const stuck = useStuck();
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
            {groups.map((group) => (
              <Group key={`${group.kind} ${group.reason}`} of={group} />
            ))}
          </>
        )}
      </Loaded>
      <Drift />
    </>
  );
}

function Group({ of: { kind, reason, count, oldest } }: { readonly of: StuckGroup }) {
  const step = commonStep(oldest);
  return (
    <Panel title={`${kind}: ${reason}`} isWide>
      {step !== null && (
        <p>
          Next, for each: <WhatToDo text={step} />
        </p>
      )}
      <Table
        label={reason}
        rows={oldest}
        keyOf={({ id }) => id}
        columns={step === null ? [...COLUMNS, NEXT] : COLUMNS}
      />
      {count > oldest.length && (
        <p className="more">{formatNumber(count - oldest.length)} more for the same reason.</p>
      )}
    </Panel>
  );
}

const NEXT = { title: 'What to do', of: ({ whatToDo }: Stuck) => <WhatToDo text={whatToDo} /> };

const COLUMNS = [
  {
    title: 'Since',
    of: (item: Stuck) => (
      <>
        <Age at={item.since} /> <New item={item} />
      </>
    ),
  },
  {
    title: 'Customer',
    of: ({ tenantReference }: Stuck) => tenantReference ?? <span className="soft">–</span>,
  },
  { title: 'Which', of: (item: Stuck) => <Which item={item} /> },
];

const New = ({ item }: { readonly item: Stuck }) =>
  isNew(item, useNow()) && <Badge tone="attention">new</Badge>;

function Which({ item: { kind, id } }: { readonly item: Stuck }) {
  const short = <ShortId of={id} />;
  switch (kind) {
    case 'session':
      return <SessionLink id={id} />;
    case 'registration':
      return <Link to="registrations">{short}</Link>;
    case 'start':
    case 'inverter':
      return short;
  }
}

const DRIFT = 'pv.remote.contract_drift.v1';
type DriftEvent = Schemas[typeof DRIFT];

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
        {(events) => (
          <Table
            label="Drift of the interface"
            rows={events.filter((each) => each.type === DRIFT).reverse()}
            keyOf={({ id }) => id}
            empty="All responses were as described."
            columns={[
              { title: 'When', of: ({ time }) => <Instant at={time} /> },
              { title: 'Operation', of: ({ subject }) => subject },
              { title: 'Difference', of: ({ data }) => <Difference of={data} /> },
            ]}
          />
        )}
      </Loaded>
    </Panel>
  );
}

/** Describes how a response differs from the interface. `expected` and `found` are names of types, never values. */
const Difference = ({ of: { kind, field, expected, found } }: { readonly of: DriftEvent['data'] }) => (
  <>
    {wordsOf(kind)}: <code>{field}</code>
    {expected !== null && `; expected ${expected}`}
    {found !== null && `; found ${found}`}
  </>
);
