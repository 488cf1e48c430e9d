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
import { Control, Counts, STATUSES, WORDS } from './campaigns.js';

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
            <h1>{data.name ?? `Campaign ${id.slice(0, 8)}`}</h1>
            <span className="actions">
              {may('users:write') && <Control of={data} />}
              <Button component="a" href={`${PREFIX}/api/v1/campaigns/${id}/result.csv`} download>
                Save result.csv
              </Button>
            </span>
          </div>
          <Panel title="Progress" isWide>
            {data.status === 'running' && may('onboarding:read') && <Outage />}
            <Counts of={data} />
            <Facts
              facts={[
                [
                  'Status',
                  <Badge key="status" tone={STATUSES[data.status]}>
                    {WORDS[data.status]}
                  </Badge>,
                ],
                ['Owners', data.invite ? 'are invited' : 'are not invited'],
                ['Created', <Instant key="created" at={data.createdAt} />],
                ['Finished', <Instant key="finished" at={data.finishedAt} none="not yet" />],
                ...(data.brands.length === 0
                  ? []
                  : ([
                      [
                        'Brands',
                        data.brands
                          .map(({ brand, rows }) => `${nameOf(brand)} ${formatNumber(rows)}`)
                          .join(', '),
                      ],
                    ] as const)),
                [
                  'What became of it',
                  <span key="links">
                    <Link to="invitations" filters={{ campaignId: id }}>
                      Invitations
                    </Link>
                    {' · '}
                    <Link to="stalled" filters={{ campaignId: id }}>
                      Stalled customers
                    </Link>
                    {' · '}
                    <Link to="brands" filters={{ by: 'campaign' }}>
                      Funnel by campaign
                    </Link>
                  </span>,
                ],
                ['Id', <Copy key="id" text={id} />],
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
      {reason.title}. The campaign continues by itself once that has ended. <Link to="">On duty</Link>
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
    <Panel title="Rows" isWide>
      <List
        label="Rows"
        list={list}
        unit="row"
        keyOf={({ line }) => String(line)}
        empty="No row has this status."
        filters={[
          {
            kind: 'choice',
            name: 'status',
            label: 'Status',
            options: [['', 'any'], ...ROW_STATUSES.map((each) => [each, each] as const)],
          },
        ]}
        values={filters}
        onFilter={(name, value) => replaceFilters('campaigns', { ...filters, [name]: value }, id)}
        pageOf={pageOf}
        columns={[
          { title: 'Line', of: ({ line }) => line, isNumber: true },
          {
            title: 'Customer',
            of: (row) => {
              const page = pageOf(row);
              return page === null ? row.tenantReference : <Link {...page}>{row.tenantReference}</Link>;
            },
            text: ({ tenantReference }) => tenantReference,
          },
          { title: 'EAN', of: ({ ean }) => ean !== null && <Copy text={ean} />, text: ({ ean }) => ean },
          { title: 'Status', of: ({ status: each }) => wordsOf(each) },
          { title: 'Problems', of: ({ problems }) => problems.map(({ message }) => message).join('; ') },
        ]}
      />
    </Panel>
  );
}
