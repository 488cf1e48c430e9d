import { useQuery } from '@tanstack/react-query';
import type { paths } from '#client/openapi.js';
import type { Schemas } from '#client/client.js';
import { client } from '../api/client.js';
import { useBrands } from '../api/brands.js';
import { readUpTo, useList } from '../api/lists.js';
import { useCampaigns } from '../api/queries.js';
import { countOf, wordsOf } from '../format/words.js';
import { Act } from '../parts/act.js';
import { Link, replaceFilters } from '../parts/link.js';
import { InvitationActs, ManyInvitationActs } from '../parts/invitation-acts.js';
import { List } from '../parts/list.js';
import { Loaded, Refusal } from '../parts/loaded.js';
import { useMay } from '../parts/may.js';
import { Copy } from '../parts/copy.js';
import { Facts, Panel } from '../parts/panel.js';
import { StalledNotice } from '../parts/remedies.js';
import { saveRows } from '../parts/save-rows.js';
import { IdLink } from '../parts/short-id.js';
import { INVITATION_STATES, InvitationState, Stall } from '../parts/state.js';
import type { Column } from '../parts/table.js';
import { Age, Instant } from '../parts/time.js';
import type { Filters } from '../rules/route.js';

type Query = NonNullable<paths['/api/v1/invitations']['get']['parameters']['query']>;
type Invitation = Schemas['InvitationView'];

const CAUSES = [
  'never_opened',
  'opened_not_started',
  'started_not_completed',
  'completed_not_online',
  'expiring_soon',
  'unreachable',
  'remote_unreachable',
  'renewal_requested',
] as const;

const lastOf = ({ onlineAt, ownerDoneAt, startedAt, openedAt }: Invitation): string | null =>
  onlineAt ?? ownerDoneAt ?? startedAt ?? openedAt;

export function InvitationsPage({ filters }: { readonly filters: Filters }) {
  const may = useMay();
  const campaigns = useCampaigns(may('users:read'));
  const names = new Map(campaigns.data);
  const { namesOf } = useBrands();
  const mayRevoke = may('onboarding:write') || may('invitations:write');
  const { campaignId } = filters;
  const { state, stalled } = filters as Pick<Query, 'state' | 'stalled'>;
  const list = useList('invitations', '/api/v1/invitations', { state, stalled, campaignId, limit: 50 });
  return (
    <>
      <div className="title">
        <h1>Invitations</h1>
        {may('links:read') && <Worklist query={{ state, stalled, campaignId }} />}
      </div>
      <List
        label="Invitations"
        list={list}
        unit="invitation"
        order="the newest first"
        keyOf={({ id }) => id}
        empty="No invitation matches the filters."
        filters={[
          {
            kind: 'choice',
            name: 'state',
            label: 'State',
            options: [
              ['', 'any'],
              ...Object.keys(INVITATION_STATES).map((each) => [each, wordsOf(each)] as const),
            ],
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
            <ManyInvitationActs of={selected} onDone={clear} />
          ),
        })}
        pageOf={({ userId }) => ({ to: 'customers', id: userId })}
        columns={[
          {
            title: 'Customer',
            of: ({ userId, tenantReference }) => (
              <Link to="customers" id={userId}>
                <strong>{tenantReference}</strong>
              </Link>
            ),
            text: ({ tenantReference }) => tenantReference,
          },
          {
            title: 'State',
            of: ({ state: each, stalled: stall }) => (
              <>
                <InvitationState of={each} />
                {stall !== null && (
                  <div>
                    <Stall stalled={stall} />
                  </div>
                )}
              </>
            ),
            text: ({ state: each }) => wordsOf(each),
            isText: true,
          },
          {
            title: 'Stalled because',
            of: ({ stalled: stall }) => (stall === null ? null : wordsOf(stall.cause)),
            isHidden: true,
          },
          { title: 'Brands', of: ({ brands }) => namesOf(brands) || 'any' },
          { title: 'Language', of: ({ locale }) => locale, isHidden: true },
          {
            title: 'Campaign',
            of: ({ campaignId: id }) => id && (names.get(id) ?? id.slice(0, 8)),
            isHidden: true,
          },
          {
            title: 'Last step',
            of: (each) => <Age at={lastOf(each)} none="none yet" />,
            text: (each) => lastOf(each),
          },
          {
            title: 'Next reminder',
            of: ({ nextReminderAt }) => <Instant at={nextReminderAt} none="none" />,
            text: ({ nextReminderAt }) => nextReminderAt,
          },
          {
            title: 'Created',
            of: ({ createdAt }) => <Instant at={createdAt} />,
            text: ({ createdAt }) => createdAt,
            isHidden: true,
          },
          {
            title: 'Expires',
            of: ({ expiresAt }) => <Instant at={expiresAt} />,
            text: ({ expiresAt }) => expiresAt,
          },
          {
            title: 'Id',
            isHidden: true,
            of: ({ id }) => <IdLink of={id} to="invitations" id={id} />,
            text: ({ id }) => id,
          },
          { title: 'Actions', of: (each) => <InvitationActs of={each} /> },
        ]}
      />
    </>
  );
}

/** The most pages of 200 invitations that a worklist has. */
const MOST_PAGES = 25;

/** Saves what a mailing needs of the invitations that its owners can still use: link, cause, next reminder. */
const Worklist = ({ query }: { readonly query: Query }) => (
  <Act
    label="Save worklist"
    run={() => worklistOf(query)}
    done={(rows) => `The worklist has ${countOf(rows.length, 'invitation')}.`}
    page={{ to: 'invitations', filters: query as Filters }}
    onDone={(rows) => saveRows('Worklist', WORKLIST, rows)}
    changes={[]}
    ask={
      <>
        <p>
          A file for your mailing: of each invitation that the filters show and its owner can still use, the
          link, the cause and the next reminder.
        </p>
        <p className="danger">
          Anybody who has a link can act as the owner. Keep the file safe, and delete it.
        </p>
      </>
    }
  />
);

async function worklistOf(query: Query): Promise<readonly Invitation[]> {
  const { items, isPart } = await readUpTo(MOST_PAGES, '/api/v1/invitations', query);
  if (isPart) throw new Refusal('There are more than 5,000 invitations: choose a filter.');
  return items.filter(({ state }) => USABLE.includes(state));
}

const USABLE: readonly Invitation['state'][] = ['invited', 'opened', 'started'];

const WORKLIST: readonly Column<Invitation>[] = [
  { title: 'Customer', of: ({ tenantReference }) => tenantReference },
  { title: 'Link', of: ({ url }) => url },
  { title: 'Cause', of: ({ stalled }) => stalled?.cause ?? null },
  { title: 'State', of: ({ state }) => state },
  { title: 'Next reminder', of: ({ nextReminderAt }) => nextReminderAt },
  { title: 'Last reminder', of: ({ remindedAt }) => remindedAt },
  { title: 'Language', of: ({ locale }) => locale },
  { title: 'Brands', of: ({ brands }) => brands.join(', ') },
  { title: 'Expires', of: ({ expiresAt }) => expiresAt },
  { title: 'Id', of: ({ id }) => id },
];

/** Shows one invitation. */
export function InvitationPage({ id }: { readonly id: string }) {
  const { namesOf } = useBrands();
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
                ['Brands', namesOf(data.brands) || 'any'],
                ['Language', data.locale ?? 'of the browser'],
                ['Created', <Instant key="created" at={data.createdAt} />],
                ['Opened', <Instant key="opened" at={data.openedAt} none="not yet" />],
                ['Started', <Instant key="started" at={data.startedAt} none="not yet" />],
                ['Owner done', <Instant key="done" at={data.ownerDoneAt} none="not yet" />],
                ['Online', <Instant key="online" at={data.onlineAt} none="not yet" />],
                ['Disconnected', <Instant key="disconnected" at={data.disconnectedAt} none="no" />],
                ['Declined', <Instant key="declined" at={data.declinedAt} none="no" />],
                ['Consent withdrawn', <Instant key="withdrawn" at={data.consentWithdrawnAt} none="no" />],
                ['Expires', <Instant key="expires" at={data.expiresAt} />],
                ['Last reminder', <Instant key="reminded" at={data.remindedAt} none="none yet" />],
                ['Next reminder', <Instant key="next" at={data.nextReminderAt} none="none is planned" />],
                ['Id', <Copy key="id" text={data.id} />],
              ]}
            />
          </Panel>
        </>
      )}
    </Loaded>
  );
}
