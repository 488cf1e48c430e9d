import { Button } from '@mantine/core';
import { useState } from 'react';
import type { Registration } from '../api/client.js';
import { useList } from '../api/lists.js';
import { BulkAct } from '../parts/bulk.js';
import { DecisionDialog, type DecisionProps } from '../parts/decision-dialog.js';
import { Link, replaceFilters } from '../parts/link.js';
import { List } from '../parts/list.js';
import { useMay } from '../parts/may.js';
import { Badge, type Tone } from '../parts/panel.js';
import { Remedies } from '../parts/remedies.js';
import { Sentence } from '../parts/sentence.js';
import { ShortId } from '../parts/short-id.js';
import { Age, Instant } from '../parts/time.js';
import type { Filters } from '../rules/route.js';
import type { Target } from '../rules/stalled.js';

const STATUSES: Readonly<Record<Registration['status'], Tone>> = {
  uncertain: 'attention',
  pending: 'quiet',
  rejected: 'attention',
  registered: 'well',
  discarded: 'ended',
};
type RegistrationStatus = keyof typeof STATUSES;

/** The statuses in which a registration can be sent again or given up. */
const DECIDABLE: readonly RegistrationStatus[] = ['uncertain', 'pending', 'rejected'];

/** The decisions about many at once, with what cannot be undone. */
function decideMany(selected: readonly Registration[], clear: () => void) {
  const on = selected.map(({ id, tenantReference, lastError }) => ({
    id,
    name: `${tenantReference}: ${lastError ?? 'no error'}`,
  }));
  const unit = 'registration';
  const isUncertain = selected.some(({ status }) => status === 'uncertain');
  return (
    <>
      <BulkAct
        label="Send again"
        operationId="retryRegistration"
        on={on}
        unit={unit}
        danger={
          isUncertain
            ? 'Only if the provider has confirmed that none of them exists: each that does is registered twice.'
            : null
        }
        onDone={clear}
      />
      <BulkAct
        label="Give up"
        operationId="discardRegistration"
        on={on}
        unit={unit}
        danger="They are not registered. A user that the provider has after all stays there unused."
        onDone={clear}
      />
    </>
  );
}

const pageOf = ({ id, userId }: Registration): Target => ({
  to: 'customers',
  id: userId ?? id,
});

/** Lists the uncertain registrations first, because they wait for the decision of a person. */
export function RegistrationsPage({ filters }: { readonly filters: Filters }) {
  const mayDecide = useMay()('registrations:decide');
  const statuses = Object.keys(STATUSES) as RegistrationStatus[];
  const status = statuses.find((each) => each === filters.status) ?? 'uncertain';
  const list = useList('registrations', '/api/v1/registrations', { status, limit: 50 });
  const [open, setOpen] = useState<Pick<DecisionProps, 'registration' | 'decision'> | null>(null);
  const decide = (registration: Registration, decision: DecisionProps['decision'], text: string) => (
    <Button onClick={() => setOpen({ registration, decision })}>{text}</Button>
  );
  return (
    <>
      <h1>Registrations</h1>
      {status === 'uncertain' && (
        <p className="notice">
          The response to each of these was lost, so the remote service may have registered the customer. It
          offers no look-up: ask the provider, then decide.
        </p>
      )}
      <List
        label="Registrations"
        list={list}
        unit="registration"
        order="the newest first"
        keyOf={({ id }) => id}
        pageOf={pageOf}
        filters={[
          { kind: 'choice', name: 'status', label: 'Status', options: statuses.map((each) => [each, each]) },
        ]}
        values={{ status }}
        onFilter={(_, each) => replaceFilters('registrations', { status: each })}
        empty={
          status === 'uncertain' ? 'No registration waits for a decision.' : `No registration is ${status}.`
        }
        {...(mayDecide && DECIDABLE.includes(status) && { acts: decideMany })}
        columns={[
          {
            title: 'Customer',
            of: (each) => (
              <Link {...pageOf(each)}>
                <strong>{each.tenantReference}</strong>
              </Link>
            ),
            text: ({ tenantReference }) => tenantReference,
          },
          { title: 'EANs', of: ({ gridLocations }) => gridLocations.map(({ ean }) => ean).join(', ') },
          { title: 'Status', of: (each) => <Badge tone={STATUSES[each.status]}>{each.status}</Badge> },
          { title: 'Times sent', of: ({ attempts }) => attempts, isNumber: true },
          { title: 'Last change', of: ({ updatedAt }) => <Age at={updatedAt} /> },
          {
            title: 'What is known',
            isText: true,
            text: ({ lastError, stalled }) => stalled?.text ?? lastError,
            of: ({ lastError, stalled, nextAttemptAt }) => (
              <>
                {stalled !== null ? (
                  <Sentence text={stalled.text} />
                ) : (
                  (lastError ?? <span className="soft">no error</span>)
                )}
                {stalled !== null && stalled.before !== null && (
                  <div className="soft">
                    First: <Sentence text={stalled.before} />
                  </div>
                )}
                {nextAttemptAt !== null && (
                  <div className="soft">
                    Next attempt <Instant at={nextAttemptAt} />
                  </div>
                )}
              </>
            ),
          },
          {
            title: 'Id',
            isHidden: true,
            of: ({ id }) => <ShortId of={id} />,
            text: ({ id }) => id,
          },
          {
            title: 'What to do',
            of: (each) =>
              each.status !== 'uncertain' ? (
                each.stalled !== null && <Remedies of={each.stalled} page={null} />
              ) : mayDecide ? (
                <span className="actions">
                  {decide(each, 'resolve', 'It exists')}
                  {decide(each, 'retry', 'Send again')}
                  {decide(each, 'discard', 'Give up')}
                </span>
              ) : null,
          },
        ]}
      />
      {open !== null && <DecisionDialog {...open} onClose={() => setOpen(null)} />}
    </>
  );
}
