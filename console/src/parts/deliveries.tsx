import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { Schemas } from '#client/client.js';
import { client, once, type Delivery, type Endpoint } from '../api/client.js';
import { useList } from '../api/lists.js';
import { eventNameOf } from '../format/words.js';
import type { Filters } from '../rules/route.js';
import { texts } from '../texts.js';
import { Act } from './act.js';
import { BulkAct } from './bulk.js';
import { useNow } from './clock.js';
import { replaceFilters } from './link.js';
import { List, type Filter } from './list.js';
import { Loaded } from './loaded.js';
import { useMay } from './may.js';
import { Badge, Panel, type Tone } from './panel.js';
import { Age } from './time.js';

const STATUSES: Readonly<Record<Delivery['status'], Tone>> = {
  pending: 'quiet',
  failed: 'attention',
  delivered: 'well',
};

/** What the list shows, by the value in the address. */
const OUTCOMES = {
  tried: { tried: 'true' },
  retried: { status: 'pending', tried: 'true' },
  waiting: { status: 'pending', tried: 'false' },
  failed: { status: 'failed' },
  delivered: { status: 'delivered' },
  any: {},
} as const;

interface Props {
  readonly filters: Filters;
  /** Null until they have been read. */
  readonly endpoints: readonly Endpoint[] | null;
  /** Shows only the deliveries to this endpoint, and has no filter by endpoint. */
  readonly endpointId?: string;
}

/** Lists what was sent, the newest first. By default only what has been tried. */
export function Deliveries({ filters, endpoints, endpointId }: Props) {
  const outcome =
    (Object.keys(OUTCOMES) as (keyof typeof OUTCOMES)[]).find((each) => each === filters.status) ?? 'tried';

  const chosen = endpointId ?? filters.endpoint;
  const list = useList('webhooks', '/api/v1/webhook-deliveries', {
    ...OUTCOMES[outcome],
    endpointId: chosen,
    limit: 50,
  });
  const endpointOf = (id: string) => endpoints?.find((each) => each.id === id);
  const addressOf = (id: string) => endpointOf(id)?.url ?? id;
  const options = new Map((endpoints ?? []).map(({ id, url }) => [id, url]));
  // Keeps the filter of the address while the endpoints are unknown, so that deliveries of other endpoints are not shown.
  if (chosen !== undefined && !options.has(chosen)) options.set(chosen, chosen);
  const ofEndpoint: Filter[] =
    endpointId === undefined
      ? [
          {
            kind: 'choice',
            name: 'endpoint',
            label: texts.titles.endpoint,
            options: [['', texts.deliveries.outcomes.any], ...options],
          },
        ]
      : [];
  return (
    <Panel title={texts.deliveries.title} isWide>
      <List
        label={texts.deliveries.title}
        list={list}
        count={texts.counts.delivery}
        order={texts.orders.newestFirst}
        keyOf={({ id }) => id}
        empty={texts.deliveries.none[outcome]}
        filters={[
          {
            kind: 'choice',
            name: 'status',
            label: texts.titles.outcome,
            options: Object.entries(texts.deliveries.outcomes),
          },
          ...ofEndpoint,
        ]}
        values={{ ...filters, status: outcome }}
        onFilter={(name, value) => replaceFilters('webhooks', { ...filters, [name]: value }, endpointId)}
        acts={(selected, clear) => (
          <BulkAct
            label={texts.buttons.redeliver}
            operationId="redeliverWebhookDelivery"
            on={selected.map(({ id, type, endpointId: to }) => ({
              id,
              name: texts.deliveries.eventTo(eventNameOf(type), addressOf(to)),
            }))}
            count={texts.counts.delivery}
            onDone={clear}
          />
        )}
        columns={[
          {
            title: texts.titles.event,
            of: (each) => <Sent of={each} to={endpointOf(each.endpointId)} />,
            text: ({ type }) => type,
          },
          ...(endpointId === undefined
            ? [{ title: texts.titles.endpoint, of: (each: Delivery) => addressOf(each.endpointId) }]
            : []),
          {
            title: texts.titles.status,
            of: (each) => <Badge tone={STATUSES[each.status]}>{each.status}</Badge>,
            text: ({ status }) => status,
          },
          {
            title: texts.titles.attempts,
            of: (each) => <Attempts of={each} />,
            text: ({ attempts }) => attempts,
          },
          {
            title: texts.titles.lastAnswer,
            of: (each) => <Answers of={each} />,
            text: ({ lastStatus, lastError, lastAnswer }) =>
              [lastStatus, lastError, lastAnswer].filter((each) => each !== null).join(' '),
          },
          { title: texts.titles.actions, of: (each) => <Redeliver of={each} /> },
        ]}
      />
    </Panel>
  );
}

function Attempts({ of: { attempts, lastAttemptAt, nextAttemptAt } }: { readonly of: Delivery }) {
  const now = useNow();
  // What is due waits for its turn, or while the endpoint fails.
  const next =
    nextAttemptAt && new Date(nextAttemptAt) < now
      ? texts.deliveries.isDue
      : nextAttemptAt && <Age at={nextAttemptAt} />;
  return texts.deliveries.attempts(
    attempts,
    lastAttemptAt && <Age at={lastAttemptAt} />,
    attempts > 0 && next,
  );
}

type Answer = Schemas['PreviousAttempt'];

/** Returns the answer to the last attempt. */
export const lastOf = ({ lastAttemptAt, lastStatus, lastError, lastAnswer }: Delivery): Answer => ({
  attemptedAt: lastAttemptAt ?? '',
  status: lastStatus,
  error: lastError,
  answer: lastAnswer,
});

/** Returns the status of a response, or why there was none. */
export const statusOf = ({ status, error }: Answer): string =>
  status === null ? (error ?? texts.values.none) : `HTTP ${status}`;

interface SentProps {
  readonly of: Delivery;
  /** To which it is sent, if it is known. */
  readonly to: Pick<Endpoint, 'url' | 'headerNames'> | undefined;
}

/** Shows the name of the event and, on request, the request that sends it. */
export function Sent({ of: { type, eventId, sequence }, to }: SentProps) {
  const may = useMay();
  const name = (
    <code className="word">
      {eventNameOf(type)
        .split(/(?<=[._])/)
        .flatMap((part, nth) => [<wbr key={nth} />, part])}
    </code>
  );
  if (!may('events:read')) return name;
  return (
    <Fold summary={name}>
      <Request eventId={eventId} sequence={sequence} to={to} />
    </Fold>
  );
}

function Request({ eventId, sequence, to }: Pick<Delivery, 'eventId' | 'sequence'> & Pick<SentProps, 'to'>) {
  const event = useQuery({
    queryKey: ['event', eventId],
    queryFn: async () => {
      const query = { after: String(BigInt(sequence) - 1n), limit: 1 };
      const { data } = await client.GET('/api/v1/events', { params: { query } });
      return data.items.find(({ id }) => id === eventId) ?? null;
    },
    staleTime: Infinity,
  });
  return (
    <Loaded query={event}>
      {(data) =>
        data === null ? (
          <p className="soft">{texts.deliveries.notStored}</p>
        ) : (
          <pre tabIndex={0}>
            {to !== undefined && headOf(to, eventId)}
            {JSON.stringify(data, null, 2)}
          </pre>
        )
      }
    </Loaded>
  );
}

/** Shows the summary and, on request, the children, which exist only while they are shown. */
export function Fold({ summary, children }: { readonly summary: ReactNode; readonly children: ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={(change) => setOpen(change.currentTarget.open)}>
      <summary>{summary}</summary>
      {isOpen && children}
    </details>
  );
}

/** Returns the first lines and the headers of the request, without what is secret. */
const headOf = ({ url, headerNames }: Pick<Endpoint, 'url' | 'headerNames'>, eventId: string): string =>
  [
    `POST ${url}`,
    'content-type: application/cloudevents+json; charset=utf-8',
    `webhook-id: ${eventId}`,
    ...['webhook-timestamp', 'webhook-signature', ...headerNames].map(
      (name) => `${name}: ${texts.deliveries.notShown}`,
    ),
    '\n',
  ].join('\n');

/** Shows what was wrong beside the status of a response, and its body. */
export function AnswerText({ of: { status, error, answer } }: { readonly of: Answer }) {
  return (
    <>
      {status !== null && error !== null && error !== `responded with ${status}` && (
        <div className="soft">{error}</div>
      )}
      {answer ? (
        <pre>{answer}</pre>
      ) : (
        <p className="soft">{status === null ? texts.deliveries.noAnswer : texts.deliveries.noBody}</p>
      )}
    </>
  );
}

/** Shows the answers of the receiver, the latest first. Hides them behind a summary, because they may be any text and are long on a phone. */
function Answers({ of: delivery }: { readonly of: Delivery }) {
  const last = lastOf(delivery);
  if (delivery.lastAttemptAt === null) return statusOf(last);
  return (
    <Fold summary={statusOf(last)}>
      <AnswerText of={last} />
      <PreviousAttempts of={delivery} />
    </Fold>
  );
}

/** Shows the attempts before the last one, the latest first. */
export function PreviousAttempts({ of: { id, lastAttemptAt } }: { readonly of: Delivery }) {
  const delivery = useQuery({
    queryKey: ['webhooks', 'attempts', id, lastAttemptAt],
    queryFn: async () =>
      (await client.GET('/api/v1/webhook-deliveries/{id}', { params: { path: { id } } })).data,
  });
  return (
    <Loaded query={delivery}>
      {({ previousAttempts }) =>
        previousAttempts.length === 0 ? (
          <p className="soft">{texts.deliveries.noEarlierAttempt}</p>
        ) : (
          previousAttempts.map((attempt, nth) => (
            <div key={nth}>
              {texts.deliveries.attempt(statusOf(attempt), <Age at={attempt.attemptedAt} />)}
              <AnswerText of={attempt} />
            </div>
          ))
        )
      }
    </Loaded>
  );
}

export function Redeliver({ of: { id, endpointId, status, attempts } }: { readonly of: Delivery }) {
  if (status === 'pending' && attempts === 0)
    return <span className="soft">{texts.deliveries.willBeSent}</span>;
  return (
    <Act
      label={texts.buttons.redeliver}
      run={() =>
        once({ redelivered: id }, (header) =>
          client.POST('/api/v1/webhook-deliveries/{id}/redeliver', { params: { path: { id }, header } }),
        )
      }
      done={texts.deliveries.sentAgain}
      page={{ to: 'webhooks', id: endpointId }}
      changes={['webhooks']}
    />
  );
}
