import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { client, type Delivery, type Endpoint } from '../api/client.js';
import { useList } from '../api/lists.js';
import { countOf, eventNameOf } from '../format/words.js';
import type { Filters } from '../rules/route.js';
import { Act } from './act.js';
import { BulkAct } from './bulk.js';
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
  tried: { words: 'tried', query: { tried: 'true' }, empty: 'Nothing has been tried yet.' },
  retried: {
    words: 'failed so far, is tried again',
    query: { status: 'pending', tried: 'true' },
    empty: 'No delivery fails.',
  },
  waiting: {
    words: 'waits for its first attempt',
    query: { status: 'pending', tried: 'false' },
    empty: 'No delivery waits.',
  },
  failed: { words: 'given up', query: { status: 'failed' }, empty: 'No delivery was given up.' },
  delivered: { words: 'delivered', query: { status: 'delivered' }, empty: 'Nothing has been delivered.' },
  any: { words: 'any', query: {}, empty: 'There is no delivery.' },
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
  const { query, empty } = OUTCOMES[outcome];
  const chosen = endpointId ?? filters.endpoint;
  const list = useList('webhooks', '/api/v1/webhook-deliveries', { ...query, endpointId: chosen, limit: 50 });
  const endpointOf = (id: string) => endpoints?.find((each) => each.id === id);
  const addressOf = (id: string) => endpointOf(id)?.url ?? id;
  const options = new Map((endpoints ?? []).map(({ id, url }) => [id, url]));
  // Keeps the filter of the address while the endpoints are unknown, so that deliveries of other endpoints are not shown.
  if (chosen !== undefined && !options.has(chosen)) options.set(chosen, chosen);
  const ofEndpoint: Filter[] =
    endpointId === undefined
      ? [{ kind: 'choice', name: 'endpoint', label: 'Endpoint', options: [['', 'any'], ...options] }]
      : [];
  return (
    <Panel title="Deliveries" isWide>
      <List
        label="Deliveries"
        list={list}
        unit="delivery"
        units="deliveries"
        order="the newest first"
        keyOf={({ id }) => id}
        empty={empty}
        filters={[
          {
            kind: 'choice',
            name: 'status',
            label: 'Outcome',
            options: Object.entries(OUTCOMES).map(([each, { words }]) => [each, words] as const),
          },
          ...ofEndpoint,
        ]}
        values={{ ...filters, status: outcome }}
        onFilter={(name, value) => replaceFilters('webhooks', { ...filters, [name]: value }, endpointId)}
        acts={(selected, clear) => (
          <BulkAct
            label="Redeliver"
            operationId="redeliverWebhookDelivery"
            on={selected.map(({ id, type, endpointId: to }) => ({
              id,
              name: `${eventNameOf(type)} to ${addressOf(to)}`,
            }))}
            unit="delivery"
            units="deliveries"
            onDone={clear}
          />
        )}
        columns={[
          {
            title: 'Event',
            of: (each) => <Sent of={each} to={endpointOf(each.endpointId)} />,
            text: ({ type }) => type,
          },
          ...(endpointId === undefined
            ? [{ title: 'Endpoint', of: (each: Delivery) => addressOf(each.endpointId) }]
            : []),
          {
            title: 'Status',
            of: (each) => <Badge tone={STATUSES[each.status]}>{each.status}</Badge>,
            text: ({ status }) => status,
          },
          {
            title: 'Attempts',
            of: (each) => <Attempts of={each} />,
            text: ({ attempts }) => attempts,
          },
          {
            title: 'Last answer',
            of: (each) => <LastAnswer of={each} />,
            text: ({ lastStatus, lastError, lastAnswer }) =>
              [lastStatus, lastError, lastAnswer].filter((each) => each !== null).join(' '),
          },
          { title: 'Send again', of: (each) => <Redeliver of={each} /> },
        ]}
      />
    </Panel>
  );
}

const Attempts = ({ of: { attempts, lastAttemptAt, nextAttemptAt } }: { readonly of: Delivery }) => (
  <>
    {countOf(attempts, 'attempt')}
    {lastAttemptAt !== null && (
      <>
        , the last <Age at={lastAttemptAt} />
      </>
    )}
    {attempts > 0 && nextAttemptAt !== null && (
      <>
        , the next <Age at={nextAttemptAt} />
      </>
    )}
  </>
);

/** Returns the status of the last response, or why there was none. */
export const statusOf = ({ lastStatus, lastError }: Delivery): string =>
  lastStatus === null ? (lastError ?? 'none') : `HTTP ${lastStatus}`;

interface SentProps {
  readonly of: Delivery;
  /** To which it is sent, if it is known. */
  readonly to: Pick<Endpoint, 'url' | 'headerNames'> | undefined;
}

/** Shows the name of the event and, on request, the request that sends it. */
export function Sent({ of: { type, eventId, sequence }, to }: SentProps) {
  const [isOpen, setOpen] = useState(false);
  const may = useMay();
  const event = useQuery({
    queryKey: ['event', eventId],
    queryFn: async () => {
      const query = { after: String(BigInt(sequence) - 1n), limit: 1 };
      const { data } = await client.GET('/api/v1/events', { params: { query } });
      return data.items.find(({ id }) => id === eventId) ?? null;
    },
    enabled: isOpen,
    staleTime: Infinity,
  });
  const name = (
    <code className="word">
      {eventNameOf(type)
        .split(/(?<=[._])/)
        .flatMap((part, nth) => [<wbr key={nth} />, part])}
    </code>
  );
  if (!may('events:read')) return name;
  return (
    <details onToggle={(change) => setOpen(change.currentTarget.open)}>
      <summary>{name}</summary>
      {isOpen && (
        <Loaded query={event}>
          {(data) =>
            data === null ? (
              <p className="soft">The event is no longer stored.</p>
            ) : (
              <pre tabIndex={0}>
                {to !== undefined && headOf(to, eventId)}
                {JSON.stringify(data, null, 2)}
              </pre>
            )
          }
        </Loaded>
      )}
    </details>
  );
}

/** Returns the first lines and the headers of the request, without what is secret. */
const headOf = ({ url, headerNames }: Pick<Endpoint, 'url' | 'headerNames'>, eventId: string): string =>
  [
    `POST ${url}`,
    'content-type: application/cloudevents+json; charset=utf-8',
    `webhook-id: ${eventId}`,
    ...['webhook-timestamp', 'webhook-signature', ...headerNames].map((name) => `${name}: (not shown)`),
    '\n',
  ].join('\n');

/** Returns what was wrong beside the status of the last response, or null. */
export const errorOf = ({ lastStatus, lastError }: Delivery): string | null =>
  lastStatus === null || lastError === `responded with ${lastStatus}` ? null : lastError;

/** Shows the last response of the receiver. Hides it behind a summary, because it may be any text and is long on a phone. */
function LastAnswer({ of: delivery }: { readonly of: Delivery }) {
  const { lastAnswer } = delivery;
  const status = statusOf(delivery);
  const error = errorOf(delivery);
  if (error === null && !lastAnswer) return status;
  return (
    <details>
      <summary>{status}</summary>
      {error !== null && <div className="soft">{error}</div>}
      {lastAnswer !== null && lastAnswer !== '' && <pre>{lastAnswer}</pre>}
    </details>
  );
}

export function Redeliver({ of: { id, endpointId, status, attempts } }: { readonly of: Delivery }) {
  if (status === 'pending' && attempts === 0) return <span className="soft">it will be sent</span>;
  return (
    <Act
      label="Redeliver"
      run={() => client.POST('/api/v1/webhook-deliveries/{id}/redeliver', { params: { path: { id } } })}
      done="It is sent again at once."
      page={{ to: 'webhooks', id: endpointId }}
      changes={['webhooks']}
    />
  );
}
