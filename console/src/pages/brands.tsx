import { useQuery } from '@tanstack/react-query';
import type { Schemas } from '#client/client.js';
import type { paths } from '#client/openapi.js';
import { useBrands } from '../api/brands.js';
import { client, type FunnelDay } from '../api/client.js';
import { useCampaigns, useDrift } from '../api/queries.js';
import { formatSeconds } from '../format/duration.js';
import { formatNumber, wordsOf } from '../format/words.js';
import { Choice } from '../parts/choice.js';
import { replaceFilters } from '../parts/link.js';
import { Loaded } from '../parts/loaded.js';
import { useMay } from '../parts/may.js';
import { Panel } from '../parts/panel.js';
import { PlainList } from '../parts/plain-list.js';
import { Table, type Column } from '../parts/table.js';
import { Instant } from '../parts/time.js';
import { againstBefore, STEP_NAMES, STEPS, weeksBefore, type Week, type WeekRow } from '../rules/funnel.js';
import type { BrandNames } from '../rules/brands.js';
import type { Filters } from '../rules/route.js';

type Query = NonNullable<paths['/api/v1/funnel']['get']['parameters']['query']>;

const BY = { brand: 'brand', day: 'day', campaign: 'campaign', week: 'week and brand' } as const;
const DAYS = { 7: '7 days', 30: '30 days', 90: '90 days', 365: 'a year' } as const;
const DAY_MS = 86_400_000;

/** Shows how far invited owners come, and how long it takes, by brand, day or campaign, against the time before. */
export function BrandsPage({ filters }: { readonly filters: Filters }) {
  const chosen = (Object.keys(BY) as (keyof typeof BY)[]).find((each) => each === filters.by) ?? 'brand';
  const by = chosen === 'week' ? 'brand' : chosen;
  const days = Object.keys(DAYS).includes(filters.days ?? '') ? Number(filters.days) : 30;
  const to = new Date(Math.ceil(Date.now() / 3_600_000) * 3_600_000);
  const from = new Date(to.getTime() - days * DAY_MS);
  const now = useFunnelOf({ by, from: from.toISOString(), to: to.toISOString() });
  const before = useFunnelOf({
    by,
    from: new Date(from.getTime() - days * DAY_MS).toISOString(),
    to: from.toISOString(),
  });
  const { all } = useBrands();
  const campaigns = useCampaigns(useMay()('users:read'));
  const past = new Map((before.data ?? []).map((row) => [row.key, row]));
  const filter = (name: string) => (value: string) => replaceFilters('brands', { ...filters, [name]: value });
  return (
    <>
      <h1>Brands</h1>
      <p className="soft">
        How far invited owners come, and how long it takes from the invitation until the installation is
        online: half of them come online within the median, 95 % within the next column. An invitation with
        two brands counts for both.
      </p>
      <div className="filters">
        <Choice label="By" value={chosen} options={Object.entries(BY)} onChoice={filter('by')} />
        {chosen !== 'week' && (
          <Choice
            label="Invited in the last"
            value={String(days)}
            options={Object.entries(DAYS)}
            onChoice={filter('days')}
          />
        )}
      </div>
      {chosen === 'week' ? (
        <Weeks />
      ) : (
        <Loaded query={now}>
          {(rows) => (
            <PlainList
              label={`Funnel by ${by}`}
              rows={rows}
              keyOf={({ key }) => key ?? ''}
              empty="Nobody was invited in this time."
              columns={columnsOf(by, past, new Map(by === 'brand' ? all : campaigns.data))}
            />
          )}
        </Loaded>
      )}
      <Drift />
    </>
  );
}

const useFunnelOf = (query: Query) =>
  useQuery({
    queryKey: ['funnel', query],
    queryFn: async () => (await client.GET('/api/v1/funnel', { params: { query } })).data.items,
  });

const WEEKS = 8;

/** Shows the funnel of each brand, week by week, against the week before. Weeks begin on Monday, in UTC like the days of the funnel. */
function Weeks() {
  const brands = useBrands();
  const weeks = useQuery({
    queryKey: ['funnel', 'weeks'],
    queryFn: async () => {
      const read = async ({ from, to }: Week) => {
        const query = { by: 'brand', from: from.toISOString(), to: to.toISOString() } as const;
        return { from, rows: (await client.GET('/api/v1/funnel', { params: { query } })).data.items };
      };
      return againstBefore(await Promise.all(weeksBefore(new Date(), WEEKS + 1).map(read)));
    },
  });
  return (
    <Loaded query={weeks}>
      {(rows) => (
        <PlainList
          label="Funnel by week and brand"
          rows={rows}
          keyOf={({ week, now: { key } }) => `${week} ${key ?? ''}`}
          empty={`Nobody was invited in the last ${WEEKS} weeks.`}
          columns={weekColumnsOf(brands)}
        />
      )}
    </Loaded>
  );
}

const weekColumnsOf = ({ nameOf }: BrandNames): readonly Column<WeekRow>[] => [
  { title: 'Week of', of: ({ week }) => <span className="digits">{week}</span>, text: ({ week }) => week },
  { title: 'Brand', of: ({ now: { key } }) => (key === null ? 'no brand' : nameOf(key)) },
  ...STEPS.map((step) => ({
    title: STEP_NAMES[step],
    of: ({ now }: WeekRow) => formatNumber(now[step]),
    text: ({ now }: WeekRow) => now[step],
    isNumber: true,
  })),
  {
    title: 'Online, %',
    of: ({ now, before }) => <Change now={percentOf(now.online, now.invited)} before={shareBefore(before)} />,
    text: ({ now }) => percentOf(now.online, now.invited),
    isNumber: true,
  },
  {
    title: 'Invited, week before',
    of: ({ before }) => formatNumber(before?.invited ?? 0),
    text: ({ before }) => before?.invited ?? 0,
    isNumber: true,
  },
  {
    title: 'Online, week before, %',
    of: ({ before }) => shareBefore(before) ?? '–',
    text: ({ before }) => shareBefore(before),
    isNumber: true,
  },
  {
    title: 'To online, median',
    of: ({ now }) => durationOf(now.medianSecondsToOnline),
    text: ({ now }) => now.medianSecondsToOnline,
    isNumber: true,
  },
  {
    title: 'To online, 95\u00a0%',
    of: ({ now }) => durationOf(now.p95SecondsToOnline),
    text: ({ now }) => now.p95SecondsToOnline,
    isNumber: true,
  },
];

const percentOf = (part: number, whole: number): number | null =>
  whole === 0 ? null : Math.round((100 * part) / whole);
const durationOf = (seconds: number | null) =>
  seconds === null ? <span className="soft">–</span> : formatSeconds(seconds);

/** `names`: those of the brands or campaigns, by their ids. */
function columnsOf(
  by: string,
  past: ReadonlyMap<string | null, FunnelDay>,
  names: ReadonlyMap<string, string>,
): Column<FunnelDay>[] {
  return [
    {
      title: wordsOf(by)[0]!.toUpperCase() + by.slice(1),
      of: ({ key }) => (key === null ? `no ${by}` : (names.get(key) ?? key)),
    },
    ...STEPS.map((step) => ({
      title: STEP_NAMES[step],
      of: (row: FunnelDay) => formatNumber(row[step]),
      text: (row: FunnelDay) => row[step],
      isNumber: true,
    })),
    {
      title: 'Online, %',
      of: (row) => (
        <Change now={percentOf(row.online, row.invited)} before={shareBefore(past.get(row.key))} />
      ),
      text: (row) => percentOf(row.online, row.invited),
      isNumber: true,
    },
    {
      title: 'Expired',
      of: ({ expired }) => formatNumber(expired),
      text: ({ expired }) => expired,
      isNumber: true,
    },
    {
      title: 'To online, median',
      of: (row) => durationOf(row.medianSecondsToOnline),
      text: (row) => row.medianSecondsToOnline,
      isNumber: true,
    },
    {
      title: 'To online, 95\u00a0%',
      of: (row) => durationOf(row.p95SecondsToOnline),
      text: (row) => row.p95SecondsToOnline,
      isNumber: true,
    },
    {
      title: 'Median before',
      of: ({ key }) => durationOf(past.get(key)?.medianSecondsToOnline ?? null),
      text: ({ key }) => past.get(key)?.medianSecondsToOnline ?? null,
      isNumber: true,
    },
  ];
}

const shareBefore = (row: FunnelDay | undefined): number | null =>
  row === undefined ? null : percentOf(row.online, row.invited);

const Change = ({ now, before }: { readonly now: number | null; readonly before: number | null }) => (
  <>
    {now === null ? '–' : `${now}\u00a0%`}
    {before !== null && <span className="soft"> {`(was\u00a0${before}\u00a0%)`}</span>}
  </>
);

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
