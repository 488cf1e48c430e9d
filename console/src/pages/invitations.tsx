import { useQuery } from '@tanstack/react-query';
import type { paths } from '#client/openapi.js';
import type { Schemas } from '#client/client.js';
import { client } from '../api/client.js';
import { useBrands } from '../api/brands.js';
import { readUpTo, useList } from '../api/lists.js';
import { useCampaigns } from '../api/queries.js';
import { wordsOf } from '../format/words.js';
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
import { texts } from '../texts.js';

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
        <h1>{texts.pages.invitations}</h1>
        {may('links:read') && <Worklist query={{ state, stalled, campaignId }} />}
      </div>
      <List
        label={texts.pages.invitations}
        list={list}
        count={texts.counts.invitation}
        order={texts.orders.newestFirst}
        keyOf={({ id }) => id}
        empty={texts.invitations.noneMatches}
        filters={[
          {
            kind: 'choice',
            name: 'state',
            label: texts.titles.state,
            options: [
              ['', texts.values.any],
              ...Object.keys(INVITATION_STATES).map((each) => [each, wordsOf(each)] as const),
            ],
          },
          {
            kind: 'choice',
            name: 'stalled',
            label: texts.titles.stalled,
            options: [
              ['', texts.values.all],
              ['any', texts.values.onlyStalled],
              ...CAUSES.map((each) => [each, wordsOf(each)] as const),
            ],
          },
          {
            kind: 'choice',
            name: 'campaignId',
            label: texts.titles.campaign,
            options: [['', texts.values.any], ...(campaigns.data ?? [])],
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
            title: texts.titles.customer,
            of: ({ userId, tenantReference }) => (
              <Link to="customers" id={userId}>
                <strong>{tenantReference}</strong>
              </Link>
            ),
            text: ({ tenantReference }) => tenantReference,
          },
          {
            title: texts.titles.state,
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
            title: texts.titles.stalledBecause,
            of: ({ stalled: stall }) => (stall === null ? null : wordsOf(stall.cause)),
            isHidden: true,
          },
          { title: texts.titles.brands, of: ({ brands }) => namesOf(brands) || texts.values.any },
          { title: texts.titles.language, of: ({ locale }) => locale, isHidden: true },
          {
            title: texts.titles.campaign,
            of: ({ campaignId: id }) => id && (names.get(id) ?? id.slice(0, 8)),
            isHidden: true,
          },
          {
            title: texts.titles.lastStep,
            of: (each) => <Age at={lastOf(each)} none={texts.values.noneYet} />,
            text: (each) => lastOf(each),
          },
          {
            title: texts.titles.nextReminder,
            of: ({ nextReminderAt }) => <Instant at={nextReminderAt} none={texts.values.none} />,
            text: ({ nextReminderAt }) => nextReminderAt,
          },
          {
            title: texts.titles.created,
            of: ({ createdAt }) => <Instant at={createdAt} />,
            text: ({ createdAt }) => createdAt,
            isHidden: true,
          },
          {
            title: texts.titles.expires,
            of: ({ expiresAt }) => <Instant at={expiresAt} />,
            text: ({ expiresAt }) => expiresAt,
          },
          {
            title: texts.titles.id,
            isHidden: true,
            of: ({ id }) => <IdLink of={id} to="invitations" id={id} />,
            text: ({ id }) => id,
          },
          { title: texts.titles.actions, of: (each) => <InvitationActs of={each} /> },
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
    label={texts.invitations.saveWorklist}
    run={() => worklistOf(query)}
    done={(rows) => texts.invitations.worklistSaved(rows.length)}
    page={{ to: 'invitations', filters: query as Filters }}
    onDone={(rows) => saveRows(texts.invitations.worklist, WORKLIST, rows)}
    changes={[]}
    ask={
      <>
        <p>{texts.invitations.worklistContent}</p>
        <p className="danger">{texts.invitations.worklistWarning}</p>
      </>
    }
  />
);

async function worklistOf(query: Query): Promise<readonly Invitation[]> {
  const { items, isPart } = await readUpTo(MOST_PAGES, '/api/v1/invitations', query);
  if (isPart) throw new Refusal(texts.invitations.tooMany);
  return items.filter(({ state }) => USABLE.includes(state));
}

const USABLE: readonly Invitation['state'][] = ['invited', 'opened', 'started'];

const WORKLIST: readonly Column<Invitation>[] = [
  { title: texts.titles.customer, of: ({ tenantReference }) => tenantReference },
  { title: texts.titles.link, of: ({ url }) => url },
  { title: texts.titles.cause, of: ({ stalled }) => stalled?.cause ?? null },
  { title: texts.titles.state, of: ({ state }) => state },
  { title: texts.titles.nextReminder, of: ({ nextReminderAt }) => nextReminderAt },
  { title: texts.titles.lastReminder, of: ({ remindedAt }) => remindedAt },
  { title: texts.titles.language, of: ({ locale }) => locale },
  { title: texts.titles.brands, of: ({ brands }) => brands.join(', ') },
  { title: texts.titles.expires, of: ({ expiresAt }) => expiresAt },
  { title: texts.titles.id, of: ({ id }) => id },
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
            <h1>{texts.invitations.title(data.tenantReference)}</h1>
            <InvitationActs of={data} />
          </div>
          {data.stalled !== null && <StalledNotice of={data.stalled} page={null} />}
          <Panel title={texts.duty.now} isWide>
            <Facts
              facts={[
                [texts.titles.state, <InvitationState key="state" of={data.state} />],
                [
                  texts.titles.customer,
                  <Link key="customer" to="customers" id={data.userId}>
                    {data.tenantReference}
                  </Link>,
                ],
                [texts.titles.brands, namesOf(data.brands) || texts.values.any],
                [texts.titles.language, texts.invitations.languages[data.locale ?? '']],
                [texts.titles.created, <Instant key="created" at={data.createdAt} />],
                [texts.titles.opened, <Instant key="opened" at={data.openedAt} none={texts.values.notYet} />],
                [
                  texts.titles.started,
                  <Instant key="started" at={data.startedAt} none={texts.values.notYet} />,
                ],
                [
                  texts.titles.ownerDone,
                  <Instant key="done" at={data.ownerDoneAt} none={texts.values.notYet} />,
                ],
                [texts.titles.online, <Instant key="online" at={data.onlineAt} none={texts.values.notYet} />],
                [
                  texts.titles.disconnected,
                  <Instant key="disconnected" at={data.disconnectedAt} none={texts.values.no} />,
                ],
                [
                  texts.titles.declined,
                  <Instant key="declined" at={data.declinedAt} none={texts.values.no} />,
                ],
                [
                  texts.titles.consentWithdrawn,
                  <Instant key="withdrawn" at={data.consentWithdrawnAt} none={texts.values.no} />,
                ],
                [texts.titles.expires, <Instant key="expires" at={data.expiresAt} />],
                [
                  texts.titles.lastReminder,
                  <Instant key="reminded" at={data.remindedAt} none={texts.values.noneYet} />,
                ],
                [
                  texts.titles.nextReminder,
                  <Instant key="next" at={data.nextReminderAt} none={texts.invitations.noneIsPlanned} />,
                ],
                [texts.titles.id, <Copy key="id" text={data.id} />],
              ]}
            />
          </Panel>
        </>
      )}
    </Loaded>
  );
}
