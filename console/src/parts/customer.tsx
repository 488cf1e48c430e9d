import type { Case, Customer, Session } from '../api/client.js';
import { countOf } from '../format/words.js';
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
import { WAITS_FOR, type Target } from '../rules/stalled.js';

const TONES: Readonly<Partial<Record<Case['waitsFor'], Tone>>> = {
  tenant: 'attention',
  us: 'attention',
  nobody: 'well',
};

/** What `usuallyUntil` is the time of. */
const UNTIL: Readonly<Partial<Record<Case['waitsFor'], string>>> = {
  owner: 'to be done by',
  remote_service: 'tried again',
};

type WaitsOf = Pick<Case, 'waitsFor' | 'why' | 'since' | 'usuallyUntil' | 'before' | 'remedies' | 'stalled'>;

/** Shows who is waited for and why, and the remedies if nothing is stalled. What is stalled has a notice of its own. */
export const Waits = ({ of }: { readonly of: WaitsOf }) => (
  <div className="case">
    <p>
      <Badge tone={TONES[of.waitsFor] ?? 'quiet'}>{WAITS_FOR[of.waitsFor]}</Badge>
    </p>
    <p>
      <Sentence text={of.why} />
    </p>
    {of.since !== null && (
      <p className="soft">
        Since <Instant at={of.since} />
        {of.usuallyUntil !== null && (
          <>
            , {UNTIL[of.waitsFor] ?? 'usually until'} <Instant at={of.usuallyUntil} />
          </>
        )}
      </p>
    )}
    {of.stalled === null && (
      <>
        {of.before !== null && (
          <p>
            First: <Sentence text={of.before} />
          </p>
        )}
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
        <Heading>Customer {customer.tenantReference}</Heading>
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
    <Panel title="What was done" isWide>
      <List
        label="What was done"
        list={list}
        unit="entry"
        units="entries"
        order="the newest first"
        keyOf={({ id }) => String(id)}
        empty="Nobody has decided, revoked or erased anything about this customer."
        columns={[
          { title: 'When', of: ({ at }) => <Instant at={at} /> },
          { title: 'What', of: ({ action }) => actionWords(action) },
          { title: 'By', of: (entry) => actorWords(entry) },
          { title: 'Of', of: ({ target }) => <code>{target}</code> },
        ]}
      />
    </Panel>
  );
}

function About({ customer: { user, registration, campaignId } }: { readonly customer: Customer }) {
  const name = user === null ? '' : [user.firstName, user.lastName].filter(Boolean).join(' ');
  return (
    <Panel title="About" isWide>
      <Facts
        facts={[
          ...(name === '' ? [] : ([['Name', name]] as const)),
          ...(user?.email ? ([['Email', user.email]] as const) : []),
          ['User', user === null ? 'none yet' : <Copy key="user" text={user.id} />],
          ...(user === null ? [] : ([['Registered', <Instant key="at" at={user.registeredAt} />]] as const)),
          [
            'Registration',
            registration === null ? (
              'none is stored'
            ) : (
              <Link to="registrations" filters={{ status: registration.status }}>
                {registration.status}, {countOf(registration.attempts, 'attempt')}
              </Link>
            ),
          ],
          ...(campaignId === null
            ? []
            : ([['Campaign', <CampaignLink key="campaign" id={campaignId} />]] as const)),
          ['Metadata', <Metadata key="metadata" of={{ ...registration?.metadata, ...user?.metadata }} />],
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
  if (entries.length === 0) return <span className="soft">none</span>;
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
    [namesOf(of.brands), of.inverters ? countOf(of.inverters, 'inverter') : ''].filter(Boolean).join('; ');
  const inverters = [
    ...new Map(sessions.flatMap((each) => each.inverters).map((each) => [each.id, each])).values(),
  ];
  return (
    <Panel
      title={`Grid location ${location.ean ?? location.gridLocationId}`}
      isWide
      more={<LocationActs of={location} />}
    >
      {parts.every(({ stalled }) => stalled?.text !== location.why) && <Waits of={location} />}
      <StalledParts of={parts} />
      <Facts
        facts={[
          ['Expected', namesAnd(expected) || 'any brand'],
          ['Online', namesAnd(online) || 'nothing yet'],
          ...(namesAnd(missing) === '' ? [] : ([['Missing', namesAnd(missing)]] as const)),
          ['Id', <Copy key="id" text={location.gridLocationId} />],
        ]}
      />
      <h3>Sessions</h3>
      <Table
        label="Sessions of the location"
        rows={sessions}
        keyOf={({ id }) => id}
        empty="No session has been started."
        columns={[
          { title: 'Session', of: ({ id }) => <SessionLink id={id} /> },
          { title: 'Brand', of: ({ brand }) => (brand === null ? 'none' : nameOf(brand)) },
          { title: 'State', of: (session) => <State session={session} /> },
          { title: 'Stalled', of: ({ stalled }) => <Stall stalled={stalled} />, isText: true },
          { title: 'Changed', of: ({ stateChangedAt }) => <Age at={stateChangedAt} /> },
          { title: 'Actions', of: ({ id }) => <Refresh id={id} /> },
        ]}
      />
      <h3>Inverters</h3>
      <Table
        label="Inverters of the location"
        rows={inverters}
        keyOf={({ id }) => id}
        empty="None has been seen."
        columns={[
          { title: 'Inverter', of: ({ id }) => <code>{id}</code> },
          { title: 'First seen', of: ({ firstSeenAt }) => <Instant at={firstSeenAt} /> },
          {
            title: 'Missing since',
            of: ({ missingSince }) => <Instant at={missingSince} none="not missing" />,
          },
        ]}
      />
      <h3>Invitations</h3>
      <Table
        label="Invitations of the location"
        rows={invitations}
        keyOf={({ id }) => id}
        empty="The owner has not been invited."
        columns={[
          { title: 'State', of: ({ state }) => <InvitationState of={state} /> },
          { title: 'Created', of: ({ createdAt }) => <Instant at={createdAt} /> },
          { title: 'Opened', of: ({ openedAt }) => <Instant at={openedAt} none="not yet" /> },
          { title: 'Expires', of: ({ expiresAt }) => <Instant at={expiresAt} /> },
          { title: 'Actions', of: (each) => <InvitationActs of={each} /> },
        ]}
      />
    </Panel>
  );
}
