import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
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
import { Badge, Panel } from '../parts/panel.js';
import { PlainList } from '../parts/plain-list.js';
import { Table, type Column } from '../parts/table.js';
import { Instant } from '../parts/time.js';
import {
  againstBefore,
  outlierOf,
  STEPS,
  weeksBefore,
  type Outlier,
  type Week,
  type WeekRow,
} from '../rules/funnel.js';
import type { BrandNames } from '../rules/brands.js';
import type { Filters } from '../rules/route.js';
import { texts } from '../texts.js';

type Query = NonNullable<paths['/api/v1/funnel']['get']['parameters']['query']>;

const { by: BY, days: DAYS } = texts.brands;

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
      <h1>{texts.pages.brands}</h1>
      <p className="soft">{texts.brands.explanation}</p>
      <div className="filters">
        <Choice
          label={texts.brands.groupedBy}
          value={chosen}
          options={Object.entries(BY)}
          onChoice={filter('by')}
        />
        {chosen !== 'week' && (
          <Choice
            label={texts.brands.invitedInLast}
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
              label={texts.brands.label(BY[by])}
              rows={rows}
              keyOf={({ key }) => key ?? ''}
              empty={texts.brands.nobodyInvited}
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
          label={texts.brands.label(BY.week)}
          rows={rows}
          keyOf={({ week, now: { key } }) => `${week} ${key ?? ''}`}
          empty={texts.brands.nobodyInWeeks(WEEKS)}
          columns={weekColumnsOf(brands)}
        />
      )}
    </Loaded>
  );
}

/** The times to online, with whether the time before is shown beside them. */
const TIMES = [
  [texts.titles.toOnlineMedian, 'medianSecondsToOnline', true],
  [texts.brands.toOnlineP95, 'p95SecondsToOnline', false],
  [texts.brands.doneToOnlineMedian, 'medianSecondsFromDone', true],
  [texts.brands.doneToOnlineP95, 'p95SecondsFromDone', false],
] as const;

/** How an invitation, or a start with or without one, ends in vain. */
const ENDS = [
  [texts.titles.expired, 'expired'],
  [texts.titles.declined, 'declined'],
  [texts.brands.startsFailed, 'failedStarts'],
] as const;

const weekColumnsOf = ({ nameOf }: BrandNames): readonly Column<WeekRow>[] => [
  {
    title: texts.brands.weekOf,
    of: ({ week }) => <span className="digits">{week}</span>,
    text: ({ week }) => week,
  },
  {
    title: texts.brands.titlesOf.brand,
    of: ({ now: { key } }) => (key === null ? texts.brands.none.brand : nameOf(key)),
  },
  ...STEPS.map((step) => ({
    title: texts.funnel.steps[step],
    of: ({ now }: WeekRow) => formatNumber(now[step]),
    text: ({ now }: WeekRow) => now[step],
    isNumber: true,
  })),
  {
    title: texts.brands.onlineShare,
    of: ({ now }) => shareOf(now),
    text: ({ now }) => shareIn(now),
    isNumber: true,
  },
  {
    title: texts.brands.invitedBefore,
    of: ({ before }) => formatNumber(before?.invited ?? 0),
    text: ({ before }) => before?.invited ?? 0,
    isNumber: true,
  },
  {
    title: texts.brands.onlineShareBefore,
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
    title: texts.brands.startsFailedBefore,
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
  by: keyof typeof texts.brands.none,
  rows: readonly FunnelDay[],
  past: ReadonlyMap<string | null, FunnelDay>,
  names: ReadonlyMap<string, string>,
): Column<FunnelDay>[] {
  const nameOf = ({ key }: FunnelDay) => (key === null ? texts.brands.none[by] : (names.get(key) ?? key));
  const withPast = (row: FunnelDay, valueOf: (row: FunnelDay) => ReactNode) => {
    const before = past.get(row.key);
    return (
      <>
        {valueOf(row)} {before && <span className="soft">{texts.brands.was(valueOf(before))}</span>}
      </>
    );
  };
  return [
    {
      title: texts.brands.titlesOf[by],
      of: (row) => (
        <>
          {nameOf(row)} {by !== 'day' && <Standing of={outlierOf(row, rows, past.get(row.key))} />}
        </>
      ),
      text: nameOf,
    },
    ...STEPS.map((step) => ({
      title: texts.funnel.steps[step],
      of: (row: FunnelDay) => formatNumber(row[step]),
      text: (row: FunnelDay) => row[step],
      isNumber: true,
    })),
    { title: texts.brands.onlineShare, of: (row) => withPast(row, shareOf), text: shareIn, isNumber: true },
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
    {isSlow && <Badge tone="attention">{texts.brands.slow}</Badge>}{' '}
    {isFew && <Badge tone="attention">{texts.brands.fewOnline}</Badge>}
  </>
);

const DRIFT = 'pv.remote.contract_drift.v1';
type DriftEvent = Schemas[typeof DRIFT];

function Drift() {
  const may = useMay();
  const drift = useDrift(may('events:read'));
  if (!may('events:read')) return null;
  return (
    <Panel title={texts.brands.drift} isWide>
      <p className="soft">{texts.brands.driftExplanation}</p>
      <Loaded query={drift}>
        {(events) => (
          <Table
            label={texts.brands.drift}
            rows={events.filter((each) => each.type === DRIFT).reverse()}
            keyOf={({ id }) => id}
            empty={texts.brands.noDrift}
            columns={[
              { title: texts.titles.when, of: ({ time }) => <Instant at={time} /> },
              { title: texts.titles.operation, of: ({ subject }) => subject },
              { title: texts.titles.difference, of: ({ data }) => <Difference of={data} /> },
            ]}
          />
        )}
      </Loaded>
    </Panel>
  );
}

/** Describes how a response differs from the interface. `expected` and `found` are names of types, never values. */
const Difference = ({ of: { kind, field, expected, found } }: { readonly of: DriftEvent['data'] }) =>
  texts.brands.difference(wordsOf(kind), <code>{field}</code>, expected, found);
