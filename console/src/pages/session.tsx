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
import { flagsOf } from '../rules/timeline.js';
import { texts } from '../texts.js';

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
      <h1>{texts.sessions.title(<ShortId of={id} />)}</h1>
      <Loaded query={session}>{(data) => <About session={data} />}</Loaded>
      <Panel title={texts.titles.whatHappened} isWide>
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
    <Panel
      title={texts.duty.now}
      isWide
      more={<Refresh id={id} label={texts.buttons.refreshNow} isDisabled={closedAt !== null} />}
    >
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
          [texts.titles.state, <State key="state" session={session} />],
          [texts.titles.since, <Age key="since" at={session.stateChangedAt} />],
          [texts.titles.brand, brand === null ? texts.values.none : nameOf(brand)],
          [
            texts.titles.customer,
            tenantReference === null ? texts.values.erased : toCustomer(tenantReference),
          ],
          [texts.titles.flags, flagsOf(session)],
          [texts.titles.lastRead, <Age key="read" at={checkedAt} />],
          [texts.titles.nextRead, <NextRead key="next" session={session} />],
          [texts.titles.expires, <Instant key="expires" at={session.expiresAt} />],
          [
            texts.titles.inverters,
            inverters.length === 0 ? texts.values.none : inverters.map((each) => each.id).join(', '),
          ],
          [texts.titles.metadata, <Metadata key="metadata" of={session.metadata} />],
          [texts.titles.sessionId, <code key="id">{id}</code>],
          [texts.titles.userId, toCustomer(<code>{session.userId}</code>)],
        ]}
      />
      {closedAt !== null && (
        <p className="soft">
          {nextCheckAt === null
            ? texts.sessions.unwatchedSince(<Instant at={closedAt} />)
            : texts.sessions.settledSince(<Instant at={closedAt} />)}
        </p>
      )}
      {session.supersededAt !== null && (
        <p className="soft">
          {texts.sessions.supersededAt(<Instant at={session.supersededAt} />, (words) => (
            <Link to="sessions">{words}</Link>
          ))}
        </p>
      )}
      {nextCheckAt === null && closedAt === null && <p className="soft">{texts.sessions.notRead}</p>}
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
  if (nextCheckAt === null) return <span className="soft">{texts.values.none}</span>;
  const seconds = (Date.parse(nextCheckAt) - Date.parse(checkedAt)) / 1_000;
  return texts.sessions.nextRead(<Age at={nextCheckAt} />, seconds);
}

/** Returns the evidence in words. Names that end in `Seconds` are durations. */
const evidenceOf = (evidence: Readonly<Record<string, unknown>>): string =>
  Object.entries(evidence)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => {
      const words = wordsOf(name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`));
      return typeof value === 'number' && /Seconds$/.test(name)
        ? `${words.replace(/ seconds$/, '')}: ${formatSeconds(value)}`
        : `${words}: ${wordsOf(String(value))}`;
    })
    .join('; ');
