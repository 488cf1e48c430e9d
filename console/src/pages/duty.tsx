import { Button } from '@mantine/core';
import { useState } from 'react';
import type { Status } from '../api/client.js';
import { useHistory, useStalled, useStatus } from '../api/queries.js';
import { useNow } from '../parts/clock.js';
import { Link } from '../parts/link.js';
import { failureOf, Loaded } from '../parts/loaded.js';
import { useMay } from '../parts/may.js';
import { Age, Instant } from '../parts/time.js';
import { Sentence } from '../parts/sentence.js';
import { wellSince } from '../rules/history.js';
import { PAGE_OF, verdictOf, type Verdict } from '../rules/verdict.js';
import { EndpointsPanel } from './duty/endpoints.js';
import { FunnelPanel } from './duty/funnel.js';
import { NeedsPanel } from './duty/needs.js';
import { OperationsPanel } from './duty/operations.js';
import { DatabasePanel, ReplicasPanel } from './duty/processes.js';
import { ReadersPanel } from './duty/readers.js';
import { ReadingPanel } from './duty/reading.js';
import { OursPanel, StalledPanel } from './duty/sessions.js';
import { TroublesPanel } from './duty/troubles.js';

/** The time ranges of the charts, by their hours. */
const RANGES = { 1: '1 h', 24: '24 h', 168: '7 d' } as const;
type Hours = keyof typeof RANGES;

/** The page for the person on duty. It answers: is everything well? If not, what is wrong, since when, and what is to be done? */
export function DutyPage() {
  const status = useStatus();
  const stalled = useStalled();
  const [hours, setHours] = useState<Hours>(24);
  const history = useHistory(hours);
  const may = useMay();
  const now = useNow();
  const { data, dataUpdatedAt, failureReason, errorUpdatedAt } = status;
  // Whether the last attempt has failed. It counts as failed even while its retry or the next attempt is in flight.
  const isUnread = failureReason !== null || errorUpdatedAt > dataUpdatedAt;
  const readAt = dataUpdatedAt === 0 ? null : new Date(dataUpdatedAt);
  const unreadSince = useFirst(
    isUnread ? new Date(errorUpdatedAt > dataUpdatedAt ? errorUpdatedAt : now) : null,
  );
  // An attempt that fails is no news about the reasons: `since` goes on with the next attempt that succeeds.
  const signature = data?.reasons.map(({ code }) => code).join() ?? 'loading';
  const seenSince = useSince(signature);
  const quietSince = signature === '' && history.data !== undefined ? wellSince(history.data) : null;
  const earliest = quietSince !== null && quietSince < seenSince ? quietSince : seenSince;
  const verdict = verdictOf({ status: data, stalled: stalled.data, unreadSince }, earliest);
  const overview = data === undefined ? null : { status: data, history: history.data };
  return (
    <>
      <h1 className="hidden">On duty</h1>
      {(data !== undefined || isUnread) && <VerdictBar verdict={verdict} readAt={readAt} />}
      <Loaded query={status}>{(facts) => <Reasons status={facts} />}</Loaded>
      <Range hours={hours} onChange={setHours} />
      {history.error !== null && (
        <p className="failure" role="alert">
          The past could not be read: {failureOf(history.error)}
        </p>
      )}
      {/* The panels of lists wait neither for the status nor for each other. */}
      <div className="panels">
        <TroublesPanel history={history.data} status={data} length={RANGES[hours]} />
        <NeedsPanel />
        {overview !== null && (
          <>
            <OperationsPanel {...overview} />
            <ReadingPanel {...overview} />
          </>
        )}
        <StalledPanel history={history.data} />
        {overview !== null && (
          <>
            <OursPanel {...overview} />
            <DatabasePanel {...overview} />
          </>
        )}
        {may('webhooks:manage') && <EndpointsPanel history={history.data} />}
        {overview !== null && (
          <>
            <ReadersPanel {...overview} />
            <ReplicasPanel {...overview} />
          </>
        )}
        <FunnelPanel />
      </div>
    </>
  );
}

/** Returns the first of the values without null between them, so that a further failed attempt does not change since when all fail. */
function useFirst(value: Date | null): Date | null {
  const [first, setFirst] = useState(value);
  if ((first === null) === (value === null)) return first;
  setFirst(value);
  return value;
}

/** Returns when this page first saw the current value. */
function useSince(value: string): Date {
  const [seen, setSeen] = useState({ value, since: new Date() });
  if (seen.value === value) return seen.since;
  const changed = { value, since: new Date() };
  setSeen(changed);
  return changed.since;
}

function VerdictBar({ verdict, readAt }: { readonly verdict: Verdict; readonly readAt: Date | null }) {
  const { tone, sentence, since, sinceWords } = verdict;
  return (
    <div className={`verdict ${tone}`} role="status">
      <p className="sentence">{sentence}</p>
      <p>
        {since !== null && (
          <>
            {sinceWords} <Instant at={since} />
            {' · '}
          </>
        )}
        read <Age at={readAt} none="never" />
      </p>
    </div>
  );
}

interface RangeProps {
  readonly hours: Hours;
  readonly onChange: (hours: Hours) => void;
}

/** Lets a person choose the time range of the charts. */
const Range = ({ hours, onChange }: RangeProps) => (
  <p className="range" role="group" aria-label="How far back the charts go">
    Charts:
    {([1, 24, 168] as const).map((each) => (
      <Button
        key={each}
        variant={each === hours ? 'filled' : 'default'}
        aria-pressed={each === hours}
        onClick={() => onChange(each)}
      >
        {RANGES[each]}
      </Button>
    ))}
  </p>
);

function Reasons({ status: { reasons } }: { readonly status: Status }) {
  if (reasons.length === 0) return null;
  return (
    <ol className="reasons" aria-label="What is wrong, the worst first">
      {reasons.map(({ code, title, detail, since }) => {
        const page = PAGE_OF[code];
        return (
          <li key={code + detail}>
            <strong>{page === undefined ? title : <Link to={page}>{title}</Link>}</strong>
            <span>
              <Sentence text={detail} />
              {since !== null && (
                <>
                  {' · since '}
                  <Instant at={since} />
                </>
              )}
            </span>
          </li>
        );
      })}
    </ol>
  );
}
