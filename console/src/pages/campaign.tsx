import { Alert, Button } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { Schemas } from '#client/client.js';
import type { paths } from '#client/openapi.js';
import { useBrands } from '../api/brands.js';
import { client } from '../api/client.js';
import { POLL_MS } from '../api/live.js';
import { useCampaign, useStatus } from '../api/queries.js';
import { formatNumber, wordsOf } from '../format/words.js';
import { Copy } from '../parts/copy.js';
import { Link, replaceFilters } from '../parts/link.js';
import { List } from '../parts/list.js';
import { Loaded } from '../parts/loaded.js';
import { useMay } from '../parts/may.js';
import { Badge, Facts, Panel } from '../parts/panel.js';
import { Instant } from '../parts/time.js';
import { PREFIX } from '../rules/prefix.js';
import type { Filters } from '../rules/route.js';
import type { Target } from '../rules/stalled.js';
import { texts } from '../texts.js';
import { Control, Counts, STATUSES } from './campaigns.js';

type Query = NonNullable<paths['/api/v1/campaigns/{id}/rows']['get']['parameters']['query']>;

const ROW_STATUSES = ['accepted', 'registered', 'known', 'invalid', 'rejected', 'uncertain', 'cancelled'];

/** Shows one campaign: its progress, its rows by status, and what became of its invitations. */
export function CampaignPage({ id, filters }: { readonly id: string; readonly filters: Filters }) {
  const may = useMay();
  const { nameOf } = useBrands();
  const campaign = useCampaign(id, POLL_MS / 5);
  return (
    <Loaded query={campaign}>
      {(data) => (
        <>
          <div className="title">
            <h1>{data.name ?? texts.campaigns.titleOf(id.slice(0, 8))}</h1>
            <span className="actions">
              {may('users:write') && <Control of={data} />}
              <Button component="a" href={`${PREFIX}/api/v1/campaigns/${id}/result.csv`} download>
                {texts.campaigns.saveResult}
              </Button>
            </span>
          </div>
          <Panel title={texts.titles.progress} isWide>
            {data.status === 'running' && may('onboarding:read') && <Outage />}
            <Counts of={data} />
            <Facts
              facts={[
                [
                  texts.titles.status,
                  <Badge key="status" tone={STATUSES[data.status]}>
                    {texts.campaigns.statuses[data.status]}
                  </Badge>,
                ],
                [texts.titles.owners, data.invite ? texts.values.areInvited : texts.values.areNotInvited],
                [texts.titles.created, <Instant key="created" at={data.createdAt} />],
                [
                  texts.titles.finished,
                  <Instant key="finished" at={data.finishedAt} none={texts.values.notYet} />,
                ],
                ...(data.brands.length === 0
                  ? []
                  : ([
                      [
                        texts.titles.brands,
                        data.brands
                          .map(({ brand, rows }) => `${nameOf(brand)} ${formatNumber(rows)}`)
                          .join(', '),
                      ],
                    ] as const)),
                [
                  texts.titles.whatBecameOfIt,
                  <span key="links">
                    <Link to="invitations" filters={{ campaignId: id }}>
                      {texts.pages.invitations}
                    </Link>
                    {' · '}
                    <Link to="stalled" filters={{ campaignId: id }}>
                      {texts.campaigns.stalledCustomers}
                    </Link>
                    {' · '}
                    <Link to="brands" filters={{ by: 'campaign' }}>
                      {texts.campaigns.funnel}
                    </Link>
                  </span>,
                ],
                [texts.titles.id, <Copy key="id" text={id} />],
              ]}
            />
          </Panel>
          <Rows id={id} filters={filters} isRunning={data.status === 'running'} />
        </>
      )}
    </Loaded>
  );
}

/** The reasons of the status for which customers are registered slowly or not at all. */
const HOLDS: readonly Schemas['StatusReasonView']['code'][] = [
  'credentials_rejected',
  'proxy_fails',
  'remote_degraded',
  'remote_slow',
];

/** Says why the campaign does not get on, if the remote service is the reason. */
function Outage() {
  const reason = useStatus().data?.reasons.find(({ code }) => HOLDS.includes(code));
  if (reason === undefined) return null;
  return (
    <Alert color="yellow" className="notice" role="status">
      {texts.campaigns.heldUp(reason.title, <Link to="">{texts.pages['']}</Link>)}
    </Alert>
  );
}

function pageOf({ userId, registrationId }: Schemas['CampaignRowView']): Target | null {
  const id = userId ?? registrationId;
  return id === null ? null : { to: 'customers', id };
}

interface RowsProps {
  readonly id: string;
  readonly filters: Filters;
  readonly isRunning: boolean;
}

function Rows({ id, filters, isRunning }: RowsProps) {
  const { status } = filters as Pick<Query, 'status'>;
  const list = useInfiniteQuery({
    queryKey: ['campaigns', id, 'rows', status],
    queryFn: async ({ pageParam }: { pageParam: string | null }) => {
      const query: Query = { status, limit: 50, ...(pageParam !== null && { cursor: pageParam }) };
      return (await client.GET('/api/v1/campaigns/{id}/rows', { params: { path: { id }, query } })).data;
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
    refetchInterval: isRunning && POLL_MS / 2,
  });
  return (
    <Panel title={texts.campaigns.rows} isWide>
      <List
        label={texts.campaigns.rows}
        list={list}
        count={texts.counts.row}
        keyOf={({ line }) => String(line)}
        empty={texts.campaigns.noRow}
        filters={[
          {
            kind: 'choice',
            name: 'status',
            label: texts.titles.status,
            options: [['', texts.values.any], ...ROW_STATUSES.map((each) => [each, each] as const)],
          },
        ]}
        values={filters}
        onFilter={(name, value) => replaceFilters('campaigns', { ...filters, [name]: value }, id)}
        pageOf={pageOf}
        columns={[
          { title: texts.titles.line, of: ({ line }) => line, isNumber: true },
          {
            title: texts.titles.customer,
            of: (row) => {
              const page = pageOf(row);
              return page === null ? row.tenantReference : <Link {...page}>{row.tenantReference}</Link>;
            },
            text: ({ tenantReference }) => tenantReference,
          },
          {
            title: texts.titles.ean,
            of: ({ ean }) => ean !== null && <Copy text={ean} />,
            text: ({ ean }) => ean,
          },
          { title: texts.titles.status, of: ({ status: each }) => wordsOf(each) },
          {
            title: texts.titles.problems,
            of: ({ problems }) => problems.map(({ message }) => message).join('; '),
          },
        ]}
      />
    </Panel>
  );
}
