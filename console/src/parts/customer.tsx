import type { Case, Customer, Session } from '../api/client.js';
import { useBrands } from '../api/brands.js';
import { useList } from '../api/lists.js';
import { useCampaign } from '../api/queries.js';
import { AdoptSession, Erase, ExportData, LocationActs, Refresh, RegisterAnew } from './customer-acts.js';
import { InvitationActs } from './invitation-acts.js';
import { Copy } from './copy.js';
import { Link } from './link.js';
import { List } from './list.js';
import { useMay } from './may.js';
import { Badge, Facts, Panel, type Tone } from './panel.js';
import { SessionLink } from './short-id.js';
import { InvitationState, Stall, State } from './state.js';
import { Table } from './table.js';
import { Age, Instant } from './time.js';
import { Sentence } from './sentence.js';
import { Remedies, StalledNotice } from './remedies.js';
import { actionWords, actorWords } from '../rules/audit.js';
import type { Target } from '../rules/stalled.js';
import { texts } from '../texts.js';

const TONES: Readonly<Partial<Record<Case['waitsFor'], Tone>>> = {
  tenant: 'attention',
  us: 'attention',
  nobody: 'well',
};

type WaitsOf = Pick<Case, 'waitsFor' | 'why' | 'since' | 'usuallyUntil' | 'before' | 'remedies' | 'stalled'>;

/** Shows who is waited for and why, and the remedies if nothing is stalled. What is stalled has a notice of its own. */
export const Waits = ({ of }: { readonly of: WaitsOf }) => (
  <div className="case">
    <p>
      <Badge tone={TONES[of.waitsFor] ?? 'quiet'}>{texts.waits[of.waitsFor]}</Badge>
    </p>
    <p>
      <Sentence text={of.why} />
    </p>
    {of.since !== null && (
      <p className="soft">
        {of.usuallyUntil === null
          ? texts.stall.since(<Instant at={of.since} />)
          : texts.stall.sinceUntil(<Instant at={of.since} />, <Instant at={of.usuallyUntil} />, of.waitsFor)}
      </p>
    )}
    {of.stalled === null && (
      <>
        {of.before !== null && <p>{texts.stall.first(<Sentence text={of.before} />)}</p>}
        <Remedies of={of} page={null} />
      </>
    )}
  </div>
);

interface CasesProps {
  readonly customers: readonly Customer[];
  /** Whether the page is about the customer, so that its name is the heading of the page. */
  readonly isPage?: boolean;
}

/** Shows customers with their grid locations, and who must act next for each. */
export function CustomerCases({ customers, isPage = false }: CasesProps) {
  const may = useMay();
  const Heading = isPage ? 'h1' : 'h2';
  return customers.map((customer) => (
    <article key={customer.tenantReference}>
      <div className="title">
        <Heading>{texts.customer.titleOf(customer.tenantReference)}</Heading>
        <span className="actions">
          <RegisterAnew of={customer} />
          <AdoptSession of={customer} />
          <ExportData of={customer} />
          <Erase of={customer} />
        </span>
      </div>
      {customer.cases.length !== 1 && <Waits of={customer} />}
      {customer.registration !== null && (
        <StalledParts
          of={[customer.registration]}
          page={{ to: 'registrations', filters: { status: customer.registration.status } }}
        />
      )}
      {customer.cases.map((each) => (
        <Location key={each.gridLocationId} of={each} />
      ))}
      <About customer={customer} />
      {may('admin') && <Audit targets={targetsOf(customer)} />}
    </article>
  ));
}

interface PartsProps {
  readonly of: readonly Pick<Session, 'id' | 'stalled'>[];
  readonly page?: Target;
}

/** Shows each part that is stalled, with what a person can do about it. */
const StalledParts = ({ of, page }: PartsProps) =>
  of.map(({ id, stalled }) => stalled && <StalledNotice key={id} of={stalled} page={page ?? null} />);

/** The maximum number of targets in one request for audit entries. */
const MOST_TARGETS = 100;

/** Returns the ids that are targets of audit entries about the customer. Prefers those of the newest sessions and invitations. */
const targetsOf = ({ user, registration, cases }: Customer): string[] =>
  [user, registration, ...cases.flatMap(({ sessions, invitations }) => [...invitations, ...sessions])]
    .flatMap((each) => each?.id ?? [])
    .slice(0, MOST_TARGETS);

/** Shows the audit entries about the customer: what people and apps did. */
function Audit({ targets }: { readonly targets: readonly string[] }) {
  const list = useList(
    'customers',
    '/api/v1/audit-log',
    { targets: targets.join(), limit: 50 },
    targets.length > 0,
  );
  return (
    <Panel title={texts.customer.whatWasDone} isWide>
      <List
        label={texts.customer.whatWasDone}
        list={list}
        count={texts.counts.entry}
        order={texts.orders.newestFirst}
        keyOf={({ id }) => String(id)}
        empty={texts.customer.nothingDone}
        columns={[
          { title: texts.titles.when, of: ({ at }) => <Instant at={at} /> },
          { title: texts.titles.what, of: ({ action }) => actionWords(action) },
          { title: texts.titles.who, of: (entry) => actorWords(entry) },
          { title: texts.titles.doneTo, of: ({ target }) => <code>{target}</code> },
        ]}
      />
    </Panel>
  );
}

function About({ customer: { user, registration, campaignId } }: { readonly customer: Customer }) {
  const name = user === null ? '' : [user.firstName, user.lastName].filter(Boolean).join(' ');
  return (
    <Panel title={texts.customer.about} isWide>
      <Facts
        facts={[
          ...(name === '' ? [] : ([[texts.titles.name, name]] as const)),
          ...(user?.email ? ([[texts.titles.email, user.email]] as const) : []),
          [texts.titles.user, user === null ? texts.values.noneYet : <Copy key="user" text={user.id} />],
          ...(user === null
            ? []
            : ([[texts.titles.registered, <Instant key="at" at={user.registeredAt} />]] as const)),
          [
            texts.titles.registration,
            registration === null ? (
              texts.customer.noRegistration
            ) : (
              <Link to="registrations" filters={{ status: registration.status }}>
                {texts.customer.registrationOf(registration.status, registration.attempts)}
              </Link>
            ),
          ],
          ...(campaignId === null
            ? []
            : ([[texts.titles.campaign, <CampaignLink key="campaign" id={campaignId} />]] as const)),
          [
            texts.titles.metadata,
            <Metadata key="metadata" of={{ ...registration?.metadata, ...user?.metadata }} />,
          ],
        ]}
      />
    </Panel>
  );
}

/** Shows the name of a campaign, which leads to it. */
function CampaignLink({ id }: { readonly id: string }) {
  const campaign = useCampaign(id);
  return (
    <Link to="campaigns" id={id}>
      {campaign.data?.name ?? id.slice(0, 8)}
    </Link>
  );
}

/** Shows the metadata of the tenant, which may contain any text. */
export function Metadata({ of }: { readonly of: Readonly<Record<string, unknown>> }) {
  const entries = Object.entries(of);
  if (entries.length === 0) return <span className="soft">{texts.values.none}</span>;
  return (
    <span>
      {entries
        .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
        .join('; ')}
    </span>
  );
}

function Location({ of: location }: { readonly of: Case }) {
  const { expected, online, missing, sessions, invitations } = location;
  const { nameOf, namesOf } = useBrands();
  const parts = [...location.starts, ...sessions, ...invitations];
  const namesAnd = (of: { readonly brands: readonly string[]; readonly inverters: number | null }) =>
    [namesOf(of.brands), of.inverters ? texts.counts.inverter(of.inverters) : ''].filter(Boolean).join('; ');
  const inverters = [
    ...new Map(sessions.flatMap((each) => each.inverters).map((each) => [each.id, each])).values(),
  ];
  return (
    <Panel
      title={texts.customer.location(location.ean ?? location.gridLocationId)}
      isWide
      more={<LocationActs of={location} />}
    >
      {parts.every(({ stalled }) => stalled?.text !== location.why) && <Waits of={location} />}
      <StalledParts of={parts} />
      <Facts
        facts={[
          [texts.titles.expected, namesAnd(expected) || texts.values.anyBrand],
          [texts.titles.online, namesAnd(online) || texts.values.nothingYet],
          ...(namesAnd(missing) === '' ? [] : ([[texts.titles.missing, namesAnd(missing)]] as const)),
          [texts.titles.id, <Copy key="id" text={location.gridLocationId} />],
        ]}
      />
      <h3>{texts.pages.sessions}</h3>
      <Table
        label={texts.customer.sessions}
        rows={sessions}
        keyOf={({ id }) => id}
        empty={texts.customer.noSession}
        columns={[
          { title: texts.titles.session, of: ({ id }) => <SessionLink id={id} /> },
          {
            title: texts.titles.brand,
            of: ({ brand }) => (brand === null ? texts.values.none : nameOf(brand)),
          },
          { title: texts.titles.state, of: (session) => <State session={session} /> },
          { title: texts.titles.stalled, of: ({ stalled }) => <Stall stalled={stalled} />, isText: true },
          { title: texts.titles.changed, of: ({ stateChangedAt }) => <Age at={stateChangedAt} /> },
          { title: texts.titles.actions, of: ({ id }) => <Refresh id={id} /> },
        ]}
      />
      <h3>{texts.titles.inverters}</h3>
      <Table
        label={texts.customer.inverters}
        rows={inverters}
        keyOf={({ id }) => id}
        empty={texts.customer.noInverter}
        columns={[
          { title: texts.titles.inverter, of: ({ id }) => <code>{id}</code> },
          { title: texts.titles.firstSeen, of: ({ firstSeenAt }) => <Instant at={firstSeenAt} /> },
          {
            title: texts.titles.missingSince,
            of: ({ missingSince }) => <Instant at={missingSince} none={texts.values.notMissing} />,
          },
        ]}
      />
      <h3>{texts.pages.invitations}</h3>
      <Table
        label={texts.customer.invitations}
        rows={invitations}
        keyOf={({ id }) => id}
        empty={texts.customer.notInvited}
        columns={[
          { title: texts.titles.state, of: ({ state }) => <InvitationState of={state} /> },
          { title: texts.titles.created, of: ({ createdAt }) => <Instant at={createdAt} /> },
          {
            title: texts.titles.opened,
            of: ({ openedAt }) => <Instant at={openedAt} none={texts.values.notYet} />,
          },
          { title: texts.titles.expires, of: ({ expiresAt }) => <Instant at={expiresAt} /> },
          { title: texts.titles.actions, of: (each) => <InvitationActs of={each} /> },
        ]}
      />
    </Panel>
  );
}
