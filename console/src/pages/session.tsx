import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { client, type Session, type TimelineEntry } from '../api/client.js';
import { useBrands } from '../api/brands.js';
import { useInterval } from '../api/queries.js';
import { formatSeconds } from '../format/duration.js';
import { wordsOf } from '../format/words.js';
import { Metadata, Waits } from '../parts/customer.js';
import { Refresh } from '../parts/customer-acts.js';
import { Link } from '../parts/link.js';
import { Loaded } from '../parts/loaded.js';
import { useMay } from '../parts/may.js';
import { Facts, Panel } from '../parts/panel.js';
import { StalledNotice } from '../parts/remedies.js';
import { Sentence } from '../parts/sentence.js';
import { ShortId } from '../parts/short-id.js';
import { State } from '../parts/state.js';
import { Age, Instant } from '../parts/time.js';
import { TimelineList } from '../parts/timeline-list.js';
import { TimelinePicture } from '../parts/timeline-picture.js';
import { missingFor } from '../rules/scopes.js';

/** The maximum number of timeline entries. Of a longer timeline, only the newest entries are shown. */
const MOST_ENTRIES = 2_000;

export function SessionPage({ id }: { readonly id: string }) {
  const refetchInterval = useInterval();
  const session = useQuery({
    queryKey: ['session', id],
    queryFn: async () => (await client.GET('/api/v1/onboarding/pv/{id}', { params: { path: { id } } })).data,
    refetchInterval,
  });
  const timeline = useQuery({ queryKey: ['timeline', id], queryFn: () => readTimeline(id), refetchInterval });
  return (
    <>
      <h1>
        Session <ShortId of={id} />
      </h1>
      <Loaded query={session}>{(data) => <About session={data} />}</Loaded>
      <Panel title="What happened" isWide>
        <Loaded query={timeline}>
          {(entries) => (
            <>
              <TimelinePicture entries={entries} />
              <TimelineList entries={entries} sessionId={id} />
            </>
          )}
        </Loaded>
      </Panel>
    </>
  );
}

async function readTimeline(sessionId: string): Promise<TimelineEntry[]> {
  const entries: TimelineEntry[] = [];
  const path = `/api/v1/onboarding/pv/{sessionId}/timeline` as const;
  let cursor: string | null = null;
  do {
    const query: { limit: number; cursor?: string } = { limit: 200, ...(cursor !== null && { cursor }) };
    const { data } = await client.GET(path, { params: { path: { sessionId }, query } });
    entries.push(...data.items);
    cursor = data.next;
  } while (cursor !== null && entries.length < MOST_ENTRIES);
  return entries;
}

function About({ session }: { readonly session: Session }) {
  const { nameOf } = useBrands();
  const maySeeCustomer = missingFor('customers', useMay()) === null;
  const { id, brand, tenantReference, stalled, checkedAt, nextCheckAt, closedAt, inverters } = session;
  const toCustomer = (name: ReactNode) =>
    maySeeCustomer && tenantReference !== null ? (
      <Link to="customers" id={session.userId}>
        {name}
      </Link>
    ) : (
      name
    );
  return (
    <Panel title="Now" isWide more={<Refresh id={id} label="Refresh now" isDisabled={closedAt !== null} />}>
      {stalled !== null && (
        <StalledNotice of={stalled} page={null}>
          <p className="soft">
            <Sentence text={evidenceOf(stalled.evidence)} />
          </p>
        </StalledNotice>
      )}
      {stalled === null && session.supersededAt === null && <LocationWaits id={session.gridLocationId} />}
      <Facts
        facts={[
          ['State', <State key="state" session={session} />],
          ['Since', <Age key="since" at={session.stateChangedAt} />],
          ['Brand', brand === null ? 'none' : nameOf(brand)],
          ['Customer', tenantReference === null ? 'erased' : toCustomer(tenantReference)],
          [
            'Flags',
            (['finished', 'active', 'expired'] as const)
              .map(
                (name) => `${name} ${session[name] === null ? 'not stated' : session[name] ? 'yes' : 'no'}`,
              )
              .join(', '),
          ],
          ['Last read', <Age key="read" at={checkedAt} />],
          ['Next read', <NextRead key="next" session={session} />],
          ['Expires', <Instant key="expires" at={session.expiresAt} />],
          ['Inverters', inverters.length === 0 ? 'none' : inverters.map((each) => each.id).join(', ')],
          ['Metadata', <Metadata key="metadata" of={session.metadata} />],
          ['Session id', <code key="id">{id}</code>],
          ['User id', toCustomer(<code>{session.userId}</code>)],
        ]}
      />
      {closedAt !== null && (
        <p className="soft">
          {nextCheckAt === null
            ? 'It is no longer watched, since '
            : 'It is settled, and seldom read, since '}
          <Instant at={closedAt} />.
        </p>
      )}
      {session.supersededAt !== null && (
        <p className="soft">
          A newer session took its place at <Instant at={session.supersededAt} />. See the{' '}
          <Link to="sessions">sessions</Link>.
        </p>
      )}
      {nextCheckAt === null && closedAt === null && <p className="soft">It is not read again by itself.</p>}
    </Panel>
  );
}

/** Shows who is waited for at a grid location, why, and what a person can do. */
function LocationWaits({ id }: { readonly id: string }) {
  const refetchInterval = useInterval();
  const found = useQuery({
    queryKey: ['customers', 'case', id],
    queryFn: async () =>
      (await client.GET('/api/v1/grid-locations/{id}/case', { params: { path: { id } } })).data,
    refetchInterval,
  });
  return (
    <Loaded query={found}>
      {(data) => (
        <>
          <Waits of={data} />
          {data.stalled !== null && <StalledNotice of={data.stalled} page={null} />}
        </>
      )}
    </Loaded>
  );
}

function NextRead({ session: { checkedAt, nextCheckAt } }: { readonly session: Session }) {
  if (nextCheckAt === null) return <span className="soft">none</span>;
  const seconds = (Date.parse(nextCheckAt) - Date.parse(checkedAt)) / 1_000;
  return (
    <>
      <Age at={nextCheckAt} />, {formatSeconds(seconds)} after the last
    </>
  );
}

/** Returns the evidence in words. Names that end in `Seconds` are durations. */
const evidenceOf = (evidence: Readonly<Record<string, unknown>>): string =>
  Object.entries(evidence)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => {
      const words = wordsOf(name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`));
      return typeof value === 'number' && name.endsWith('Seconds')
        ? `${words.replace(/ seconds$/, '')}: ${formatSeconds(value)}`
        : `${words}: ${wordsOf(String(value))}`;
    })
    .join('; ');
