import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Schemas } from '#client/client.js';
import type { paths } from '#client/openapi.js';
import { useBrands } from '../api/brands.js';
import { client, type FunnelDay } from '../api/client.js';
import { useCampaigns, useDrift } from '../api/queries.js';
import { formatSeconds } from '../format/duration.js';
import { formatNumber, startingUpper, wordsOf } from '../format/words.js';
import { Choice } from '../parts/choice.js';
import { replaceFilters } from '../parts/link.js';
import { Loaded } from '../parts/loaded.js';
import { useMay } from '../parts/may.js';
import { Badge, Panel } from '../parts/panel.js';
import { PlainList } from '../parts/plain-list.js';
import { Table, type Column } from '../parts/table.js';
import { Instant } from '../parts/time.js';
import {
  againstBefore,
  outlierOf,
  STEP_NAMES,
  STEPS,
  weeksBefore,
  type Outlier,
  type Week,
  type WeekRow,
} from '../rules/funnel.js';
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
        How far invited owners come, and how long it takes until the installation is online, from the
        invitation and from the owner being done: half of them come online within the median, 95&nbsp;% within
        the next column. An invitation with two brands counts for both. “Slow” takes at least twice as long
        from done to online as the middle one of the other rows, or as before; “few online” is at most half of
        theirs.
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
              empty="Nobody was invited in this time. What an app has started without an invitation is not counted."
              columns={columnsOf(by, rows, past, new Map(by === 'brand' ? all : campaigns.data))}
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

/** The times to online, with whether the time before is shown beside them. */
const TIMES = [
  ['To online, median', 'medianSecondsToOnline', true],
  ['To online, 95\u00a0%', 'p95SecondsToOnline', false],
  ['Done to online, median', 'medianSecondsFromDone', true],
  ['Done to online, 95\u00a0%', 'p95SecondsFromDone', false],
] as const;

/** How an invitation, or a start with or without one, ends in vain. */
const ENDS = [
  ['Expired', 'expired'],
  ['Declined', 'declined'],
  ['Starts failed', 'failedStarts'],
] as const;

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
    of: ({ now }) => shareOf(now),
    text: ({ now }) => shareIn(now),
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
    of: ({ before }) => shareOf(before),
    text: ({ before }) => (before === undefined ? null : shareIn(before)),
    isNumber: true,
  },
  ...ENDS.map(([title, field]) => ({
    title,
    of: ({ now }: WeekRow) => formatNumber(now[field]),
    text: ({ now }: WeekRow) => now[field],
    isNumber: true,
  })),
  {
    title: 'Starts failed, week before',
    of: ({ before }) => formatNumber(before?.failedStarts ?? 0),
    text: ({ before }) => before?.failedStarts ?? 0,
    isNumber: true,
  },
  ...TIMES.map(([title, field]) => ({
    title,
    of: ({ now }: WeekRow) => durationOf(now[field]),
    text: ({ now }: WeekRow) => now[field],
    isNumber: true,
  })),
];

const shareIn = ({ invited, online }: FunnelDay): number | null =>
  invited === 0 ? null : Math.round((100 * online) / invited);
const shareOf = (row: FunnelDay | undefined) => {
  const share = row === undefined ? null : shareIn(row);
  return share === null ? '–' : `${share}\u00a0%`;
};
const durationOf = (seconds: number | null) =>
  seconds === null ? <span className="soft">–</span> : formatSeconds(seconds);

/** `names`: those of the brands or campaigns, by their ids. Days are not compared, since the last ones are not over. */
function columnsOf(
  by: string,
  rows: readonly FunnelDay[],
  past: ReadonlyMap<string | null, FunnelDay>,
  names: ReadonlyMap<string, string>,
): Column<FunnelDay>[] {
  const nameOf = ({ key }: FunnelDay) => (key === null ? `no ${by}` : (names.get(key) ?? key));
  const withPast = (row: FunnelDay, valueOf: (row: FunnelDay) => ReactNode) => {
    const before = past.get(row.key);
    return (
      <>
        {valueOf(row)} {before && <span className="soft">(was&nbsp;{valueOf(before)})</span>}
      </>
    );
  };
  return [
    {
      title: startingUpper(by),
      of: (row) => (
        <>
          {nameOf(row)} {by !== 'day' && <Standing of={outlierOf(row, rows, past.get(row.key))} />}
        </>
      ),
      text: nameOf,
    },
    ...STEPS.map((step) => ({
      title: STEP_NAMES[step],
      of: (row: FunnelDay) => formatNumber(row[step]),
      text: (row: FunnelDay) => row[step],
      isNumber: true,
    })),
    { title: 'Online, %', of: (row) => withPast(row, shareOf), text: shareIn, isNumber: true },
    ...ENDS.map(([title, field]) => ({
      title,
      of: (row: FunnelDay) => withPast(row, (each) => formatNumber(each[field])),
      text: (row: FunnelDay) => row[field],
      isNumber: true,
    })),
    ...TIMES.map(([title, field, hasPast]) => ({
      title,
      of: (row: FunnelDay) =>
        hasPast ? withPast(row, (each) => durationOf(each[field])) : durationOf(row[field]),
      text: (row: FunnelDay) => row[field],
      isNumber: true,
    })),
  ];
}

const Standing = ({ of: { isSlow, isFew } }: { readonly of: Outlier }) => (
  <>
    {isSlow && <Badge tone="attention">slow</Badge>} {isFew && <Badge tone="attention">few online</Badge>}
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
