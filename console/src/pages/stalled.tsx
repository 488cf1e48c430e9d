import type { Schemas } from '#client/client.js';
import type { StalledGroup, StalledItem } from '../api/client.js';
import { useDrift, useStalled } from '../api/queries.js';
import { countOf, formatNumber, wordsOf } from '../format/words.js';
import { useNow } from '../parts/clock.js';
import { Link } from '../parts/link.js';
import { Empty, Loaded } from '../parts/loaded.js';
import { useMay } from '../parts/may.js';
import { Badge, Panel } from '../parts/panel.js';
import { Remedies } from '../parts/remedies.js';
import { Sentence } from '../parts/sentence.js';
import { ShortId } from '../parts/short-id.js';
import { Urgency } from '../parts/state.js';
import { Table } from '../parts/table.js';
import { Age, Instant } from '../parts/time.js';
import { isNew, pageAbout, WAITS_FOR } from '../rules/stalled.js';

export function StalledPage() {
  const stalled = useStalled();
  return (
    <>
      <h1>Stalled</h1>
      <p className="soft">What does not continue by itself, or has not for too long.</p>
      <Loaded query={stalled}>
        {(groups) => (
          <>
            {groups.length === 0 && <Empty>Nothing is stalled.</Empty>}
            {groups.map((group) => (
              <Group key={`${group.kind} ${group.cause}`} of={group} />
            ))}
          </>
        )}
      </Loaded>
      <Drift />
    </>
  );
}

function Group({
  of: { kind, cause, title, waitsFor, urgency, count, oldest },
}: {
  readonly of: StalledGroup;
}) {
  const before = oldest[0]?.before ?? null;
  const more = `${formatNumber(count - oldest.length)} more for the same cause`;
  return (
    <Panel title={`${countOf(count, kind)}: ${title}`} isWide>
      <p>
        <Urgency of={urgency} /> {WAITS_FOR[waitsFor]}.{' '}
        {before !== null && (
          <>
            First: <Sentence text={before} />
          </>
        )}
      </p>
      <Table label={title} rows={oldest} keyOf={({ id }) => id} columns={columnsOf(title, oldest)} />
      {count > oldest.length && (
        <p className="more">
          {kind === 'session' ? (
            <Link to="sessions" filters={{ stalled: cause }}>
              {more}
            </Link>
          ) : (
            `${more}.`
          )}
        </p>
      )}
    </Panel>
  );
}

const COLUMNS = [
  {
    title: 'Since',
    of: (item: StalledItem) => (
      <>
        <Age at={item.since} /> <New item={item} />
      </>
    ),
  },
  {
    title: 'Customer',
    of: ({ tenantReference }: StalledItem) => tenantReference ?? <span className="soft">–</span>,
  },
  { title: 'Which', of: (item: StalledItem) => <Which item={item} /> },
];
const WHY = { title: 'Why', of: ({ text }: StalledItem) => <Sentence text={text} /> };
const WHAT_TO_DO = {
  title: 'What to do',
  of: (item: StalledItem) => <Remedies of={item} page={pageAbout(item)} />,
};

/** Omits the columns that say no more than the title of the group. */
const columnsOf = (title: string, items: readonly StalledItem[]) => [
  ...COLUMNS,
  ...(items.some(({ text }) => text !== title) ? [WHY] : []),
  ...(items.some(({ remedies }) => remedies.length > 0) ? [WHAT_TO_DO] : []),
];

const New = ({ item }: { readonly item: StalledItem }) =>
  isNew(item, useNow()) && <Badge tone="attention">new</Badge>;

function Which({ item }: { readonly item: StalledItem }) {
  const page = pageAbout(item);
  const short = <ShortId of={item.id} />;
  return page === null ? short : <Link {...page}>{short}</Link>;
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
