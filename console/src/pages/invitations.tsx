import { useQuery } from '@tanstack/react-query';
import type { paths } from '#client/openapi.js';
import type { Schemas } from '#client/client.js';
import { client } from '../api/client.js';
import { useList } from '../api/lists.js';
import { useCampaigns } from '../api/queries.js';
import { wordsOf } from '../format/words.js';
import { Link, replaceFilters } from '../parts/link.js';
import { InvitationActs } from '../parts/invitation-acts.js';
import { List } from '../parts/list.js';
import { Loaded } from '../parts/loaded.js';
import { useMay } from '../parts/may.js';
import { BulkAct } from '../parts/bulk.js';
import { Copy } from '../parts/copy.js';
import { Badge, Facts, Panel, type Tone } from '../parts/panel.js';
import { StalledNotice } from '../parts/remedies.js';
import { IdLink } from '../parts/short-id.js';
import { Stall } from '../parts/state.js';
import { Age, Instant } from '../parts/time.js';
import type { Filters } from '../rules/route.js';

type Query = NonNullable<paths['/api/v1/invitations']['get']['parameters']['query']>;
type Invitation = Schemas['InvitationView'];

const STATES: Readonly<Record<Invitation['state'], Tone>> = {
  invited: 'quiet',
  opened: 'quiet',
  started: 'quiet',
  owner_done: 'quiet',
  online: 'well',
  expired: 'unknown',
  declined: 'unknown',
  revoked: 'unknown',
};

const CAUSES = [
  'never_opened',
  'opened_not_started',
  'started_not_completed',
  'completed_not_online',
  'expiring_soon',
  'remote_unreachable',
  'renewal_requested',
] as const;

export const InvitationState = ({ of }: { readonly of: Invitation['state'] }) => (
  <Badge tone={STATES[of]}>{wordsOf(of)}</Badge>
);

const lastOf = ({ onlineAt, ownerDoneAt, startedAt, openedAt }: Invitation): string | null =>
  onlineAt ?? ownerDoneAt ?? startedAt ?? openedAt;

export function InvitationsPage({ filters }: { readonly filters: Filters }) {
  const may = useMay();
  const campaigns = useCampaigns(may('users:read'));
  const mayRevoke = may('onboarding:write') || may('invitations:write');
  const { campaignId } = filters;
  const { state, stalled } = filters as Pick<Query, 'state' | 'stalled'>;
  const list = useList('invitations', '/api/v1/invitations', { state, stalled, campaignId, limit: 50 });
  return (
    <>
      <h1>Invitations</h1>
      <List
        label="Invitations"
        list={list}
        unit="invitation"
        keyOf={({ id }) => id}
        empty="No invitation is like this."
        filters={[
          {
            kind: 'choice',
            name: 'state',
            label: 'State',
            options: [['', 'any'], ...Object.keys(STATES).map((each) => [each, wordsOf(each)] as const)],
          },
          {
            kind: 'choice',
            name: 'stalled',
            label: 'Stalled',
            options: [
              ['', 'all'],
              ['any', 'only stalled'],
              ...CAUSES.map((each) => [each, wordsOf(each)] as const),
            ],
          },
          {
            kind: 'choice',
            name: 'campaignId',
            label: 'Campaign',
            options: [['', 'any'], ...(campaigns.data ?? [])],
          },
        ]}
        values={filters}
        onFilter={(name, value) => replaceFilters('invitations', { ...filters, [name]: value })}
        {...(mayRevoke && {
          acts: (selected: readonly Invitation[], clear: () => void) => (
            <BulkAct
              label="Revoke"
              operationId="revokeInvitation"
              on={selected.map(({ id, tenantReference }) => ({ id, name: tenantReference }))}
              unit="invitation"
              danger="Their links stop working, also in mails that were sent."
              onDone={clear}
            />
          ),
        })}
        pageOf={({ userId }) => ({ to: 'customers', id: userId })}
        columns={[
          {
            title: 'Customer',
            of: ({ tenantReference }) => <strong>{tenantReference}</strong>,
            text: ({ tenantReference }) => tenantReference,
          },
          {
            title: 'State',
            of: ({ state: each }) => <InvitationState of={each} />,
            text: ({ state: each }) => each,
          },
          {
            title: 'Stalled',
            of: ({ stalled: stall }) => <Stall stalled={stall} />,
            text: ({ stalled: stall }) => stall?.cause ?? null,
          },
          { title: 'Brands', of: ({ brands }) => (brands.length === 0 ? 'any' : brands.join(', ')) },
          { title: 'Language', of: ({ locale }) => locale },
          {
            title: 'Last step',
            of: (each) => <Age at={lastOf(each)} none="none yet" />,
            text: (each) => lastOf(each),
          },
          {
            title: 'Created',
            of: ({ createdAt }) => <Instant at={createdAt} />,
            text: ({ createdAt }) => createdAt,
          },
          {
            title: 'Expires',
            of: ({ expiresAt }) => <Instant at={expiresAt} />,
            text: ({ expiresAt }) => expiresAt,
          },
          {
            title: 'Id',
            of: ({ id }) => <IdLink of={id} to="invitations" id={id} />,
            text: ({ id }) => id,
          },
          { title: 'Control', of: (each) => <InvitationActs of={each} /> },
        ]}
      />
    </>
  );
}

/** Shows one invitation. */
export function InvitationPage({ id }: { readonly id: string }) {
  const invitation = useQuery({
    queryKey: ['invitations', id],
    queryFn: async () => (await client.GET('/api/v1/invitations/{id}', { params: { path: { id } } })).data,
  });
  return (
    <Loaded query={invitation}>
      {(data) => (
        <>
          <div className="title">
            <h1>Invitation of {data.tenantReference}</h1>
            <InvitationActs of={data} />
          </div>
          {data.stalled !== null && <StalledNotice of={data.stalled} page={null} />}
          <Panel title="Now" isWide>
            <Facts
              facts={[
                ['State', <InvitationState key="state" of={data.state} />],
                [
                  'Customer',
                  <Link key="customer" to="customers" id={data.userId}>
                    {data.tenantReference}
                  </Link>,
                ],
                ['Brands', data.brands.length === 0 ? 'any' : data.brands.join(', ')],
                ['Language', data.locale ?? 'of the browser'],
                ['Created', <Instant key="created" at={data.createdAt} />],
                ['Opened', <Instant key="opened" at={data.openedAt} none="not yet" />],
                ['Started', <Instant key="started" at={data.startedAt} none="not yet" />],
                ['Owner done', <Instant key="done" at={data.ownerDoneAt} none="not yet" />],
                ['Online', <Instant key="online" at={data.onlineAt} none="not yet" />],
                ['Expires', <Instant key="expires" at={data.expiresAt} />],
                ['Id', <Copy key="id" text={data.id} />],
              ]}
            />
          </Panel>
        </>
      )}
    </Loaded>
  );
}
