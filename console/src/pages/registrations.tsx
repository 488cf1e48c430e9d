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
import { texts } from '../texts.js';

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
    name: `${tenantReference}: ${lastError ?? texts.values.noError}`,
  }));

  const isUncertain = selected.some(({ status }) => status === 'uncertain');
  return (
    <>
      <BulkAct
        label={texts.buttons.sendAgain}
        operationId="retryRegistration"
        on={on}
        count={texts.counts.registration}
        danger={isUncertain ? texts.registrations.sendManyAgain : null}
        onDone={clear}
      />
      <BulkAct
        label={texts.buttons.giveUp}
        operationId="discardRegistration"
        on={on}
        count={texts.counts.registration}
        danger={texts.registrations.giveManyUp}
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
      <h1>{texts.pages.registrations}</h1>
      {status === 'uncertain' && <p className="notice">{texts.registrations.uncertain}</p>}
      <List
        label={texts.pages.registrations}
        list={list}
        count={texts.counts.registration}
        order={texts.orders.newestFirst}
        keyOf={({ id }) => id}
        pageOf={pageOf}
        filters={[
          {
            kind: 'choice',
            name: 'status',
            label: texts.titles.status,
            options: statuses.map((each) => [each, each]),
          },
        ]}
        values={{ status }}
        onFilter={(_, each) => replaceFilters('registrations', { status: each })}
        empty={status === 'uncertain' ? texts.registrations.noneToDecide : texts.registrations.noneIs(status)}
        {...(mayDecide && DECIDABLE.includes(status) && { acts: decideMany })}
        columns={[
          {
            title: texts.titles.customer,
            of: (each) => (
              <Link {...pageOf(each)}>
                <strong>{each.tenantReference}</strong>
              </Link>
            ),
            text: ({ tenantReference }) => tenantReference,
          },
          {
            title: texts.titles.eans,
            of: ({ gridLocations }) => gridLocations.map(({ ean }) => ean).join(', '),
          },
          {
            title: texts.titles.status,
            of: (each) => <Badge tone={STATUSES[each.status]}>{each.status}</Badge>,
          },
          { title: texts.titles.timesSent, of: ({ attempts }) => attempts, isNumber: true },
          { title: texts.titles.lastChange, of: ({ updatedAt }) => <Age at={updatedAt} /> },
          {
            title: texts.titles.whatIsKnown,
            isText: true,
            text: ({ lastError, stalled }) => stalled?.text ?? lastError,
            of: ({ lastError, stalled, nextAttemptAt }) => (
              <>
                {stalled !== null ? (
                  <Sentence text={stalled.text} />
                ) : (
                  (lastError ?? <span className="soft">{texts.values.noError}</span>)
                )}
                {stalled !== null && stalled.before !== null && (
                  <div className="soft">{texts.stall.first(<Sentence text={stalled.before} />)}</div>
                )}
                {nextAttemptAt !== null && (
                  <div className="soft">
                    {texts.registrations.nextAttempt(<Instant at={nextAttemptAt} />)}
                  </div>
                )}
              </>
            ),
          },
          {
            title: texts.titles.id,
            isHidden: true,
            of: ({ id }) => <ShortId of={id} />,
            text: ({ id }) => id,
          },
          {
            title: texts.titles.whatToDo,
            of: (each) =>
              each.status !== 'uncertain' ? (
                each.stalled !== null && <Remedies of={each.stalled} page={null} />
              ) : mayDecide ? (
                <span className="actions">
                  {decide(each, 'resolve', texts.buttons.itExists)}
                  {decide(each, 'retry', texts.buttons.sendAgain)}
                  {decide(each, 'discard', texts.buttons.giveUp)}
                </span>
              ) : null,
          },
        ]}
      />
      {open !== null && <DecisionDialog {...open} onClose={() => setOpen(null)} />}
    </>
  );
}
