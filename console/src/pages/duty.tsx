import { useState } from 'react';
import type { Status } from '../api/client.js';
import { useStatus } from '../api/queries.js';
import { useNow } from '../parts/clock.js';
import { Link } from '../parts/link.js';
import { Loaded } from '../parts/loaded.js';
import { useMay } from '../parts/may.js';
import { Age, Instant } from '../parts/time.js';
import { PAGE_OF, titleOf, verdictOf, type Verdict } from '../rules/verdict.js';
import { EndpointsPanel } from './duty/endpoints.js';
import { FunnelPanel } from './duty/funnel.js';
import { NeedsPanel } from './duty/needs.js';
import { OperationsPanel } from './duty/operations.js';
import { DatabasePanel, ReplicasPanel } from './duty/processes.js';
import { ReadersPanel } from './duty/readers.js';
import { ReadingPanel } from './duty/reading.js';
import { OursPanel, StalledPanel } from './duty/sessions.js';

/** The page for the person on duty: is everything well, and if not, what is wrong since when, and what is to be done? */
export function DutyPage() {
  const status = useStatus();
  const may = useMay();
  const now = useNow();
  const { data, dataUpdatedAt, failureReason, errorUpdatedAt } = status;
  // A failed attempt counts before its retry has failed too.
  const isUnread = failureReason !== null;
  const readAt = dataUpdatedAt === 0 ? null : new Date(dataUpdatedAt);
  const unreadSince = isUnread ? (readAt ?? new Date(errorUpdatedAt || now)) : null;
  const signature = isUnread ? 'unread' : (data?.reasons.map(({ code }) => code).join() ?? 'loading');
  const verdict = verdictOf({ status: data, readAt, unreadSince }, useSince(signature), now);
  return (
    <>
      <h1 className="hidden">On duty</h1>
      {(data !== undefined || isUnread) && <VerdictBar verdict={verdict} readAt={readAt} />}
      <Loaded query={status}>
        {(facts) => (
          <>
            <Reasons status={facts} />
            <div className="panels">
              <NeedsPanel />
              <OperationsPanel status={facts} />
              <ReadingPanel status={facts} />
              <StalledPanel status={facts} />
              <OursPanel status={facts} />
              <DatabasePanel status={facts} />
              {may('webhooks:manage') && <EndpointsPanel />}
              <ReadersPanel status={facts} />
              <ReplicasPanel status={facts} />
              <FunnelPanel />
            </div>
          </>
        )}
      </Loaded>
    </>
  );
}

/** Returns since when this page has seen the same value. */
function useSince(value: string): Date {
  const [seen, setSeen] = useState({ value, since: new Date() });
  if (seen.value === value) return seen.since;
  const changed = { value, since: new Date() };
  setSeen(changed);
  return changed.since;
}

function VerdictBar({ verdict, readAt }: { readonly verdict: Verdict; readonly readAt: Date | null }) {
  const { tone, sentence, since, isSinceSeen } = verdict;
  return (
    <div className={`verdict ${tone}`} role="status">
      <p className="sentence">{sentence}</p>
      <p>
        {since !== null && (
          <>
            {isSinceSeen ? 'Seen so since ' : 'Since '}
            <Instant at={since} />
            {' · '}
          </>
        )}
        read <Age at={readAt} none="never" />
      </p>
    </div>
  );
}

function Reasons({ status: { reasons } }: { readonly status: Status }) {
  if (reasons.length === 0) return null;
  return (
    <ol className="reasons" aria-label="What is wrong, the worst first">
      {reasons.map(({ code, detail }) => {
        const page = PAGE_OF[code];
        return (
          <li key={code + detail}>
            <strong>{page === undefined ? titleOf(code) : <Link to={page}>{titleOf(code)}</Link>}</strong>
            <span>{detail}</span>
          </li>
        );
      })}
    </ol>
  );
}
