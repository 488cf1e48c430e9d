import { Button } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import { useHistory, useStalled, useStatus } from '../api/queries.js';
import { useNow } from '../parts/clock.js';
import { Link, replaceFilters } from '../parts/link.js';
import { failureOf, Loaded, Loading } from '../parts/loaded.js';
import { Age, Instant } from '../parts/time.js';
import { wellSince } from '../rules/history.js';
import type { Filters } from '../rules/route.js';
import { verdictOf, type Verdict } from '../rules/verdict.js';
import { texts } from '../texts.js';
import { Figures } from './duty/figures.js';
import { Incidents } from './duty/incidents.js';
import { NeedsPanel } from './duty/needs.js';
import { VIEWS, type Hours, type View } from './duty/views.js';

// Only the charts need their library, so the browser loads it when a tab with charts is first opened.
const Charts = lazy(async () => ({ default: (await import('./duty/charts.js')).Charts }));

/** The page for the person on duty. It answers: is everything well? If not, what is wrong, since when, and what is to be done? */
export function DutyPage({ filters }: { readonly filters: Filters }) {
  const view =
    filters.view !== undefined && Object.hasOwn(VIEWS, filters.view) ? (filters.view as View) : null;
  const hours = ([1, 24, 168] as const).find((each) => String(each) === filters.hours) ?? 24;
  const status = useStatus();
  const stalled = useStalled();
  const history = useHistory(hours);
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
  return (
    <>
      <h1 className="hidden">{texts.pages['']}</h1>
      {(data !== undefined || isUnread) && <VerdictBar verdict={verdict} readAt={readAt} />}
      <nav className="tabs" aria-label={texts.duty.parts}>
        <Link to="" isCurrent={view === null}>
          {texts.duty.now}
        </Link>
        {(Object.keys(VIEWS) as View[]).map((each) => (
          <Link key={each} to="" filters={{ ...filters, view: each }} isCurrent={view === each}>
            {VIEWS[each]}
          </Link>
        ))}
      </nav>
      {view === null ? (
        <>
          <Loaded query={status}>
            {(facts) => (
              <>
                <Figures status={facts} />
                <Incidents status={facts} />
              </>
            )}
          </Loaded>
          <NeedsPanel />
        </>
      ) : (
        <>
          <div className="apart">
            <Range hours={hours} onChange={(each) => replaceFilters('', { view, hours: String(each) })} />
            {view !== 'past' && <Zoom />}
          </div>
          {history.error !== null && (
            <p className="failure" role="alert">
              {texts.duty.pastUnread(failureOf(history.error))}
            </p>
          )}
          <div className="panels">
            <Suspense fallback={<Loading />}>
              <Charts view={view} hours={hours} history={history.data} status={data} />
            </Suspense>
          </div>
        </>
      )}
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
  const age = <Age at={readAt} none={texts.values.never} />;
  return (
    <div className={`verdict ${tone}`} role="status">
      <p className="sentence">{sentence}</p>
      <p className="since">
        {since === null
          ? texts.duty.updated(age)
          : texts.duty.updatedSince(sinceWords, <Instant at={since} />, age)}
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
  <p className="range" role="group" aria-label={texts.duty.howFarBack}>
    {texts.duty.charts}{' '}
    {([1, 24, 168] as const).map((each) => (
      <Button
        key={each}
        variant={each === hours ? 'filled' : 'default'}
        aria-pressed={each === hours}
        onClick={() => onChange(each)}
      >
        {texts.duty.ranges[each]}
      </Button>
    ))}
  </p>
);

const ZOOMS = [
  [texts.duty.zooms.in, 0.5, 0],
  [texts.duty.zooms.out, 2, 0],
  [texts.duty.zooms.earlier, 1, -0.5],
  [texts.duty.zooms.later, 1, 0.5],
] as const;

/** Does by buttons what dragging does, for a keyboard and for a phone. The browser has the library of the charts by then. */
const Zoom = () => (
  <p className="range" role="group" aria-label={texts.duty.shownTime}>
    {ZOOMS.map(([label, factor, shift]) => (
      <Button
        key={label}
        onClick={() => void import('../parts/trend.js').then(({ zoom }) => zoom(factor, shift))}
      >
        {label}
      </Button>
    ))}
  </p>
);
