import { useMutation } from '@tanstack/react-query';
import { client, type Delivery, type Endpoint } from '../api/client.js';
import { useList } from '../api/lists.js';
import { invalidate, useEndpoints } from '../api/queries.js';
import { countOf } from '../format/words.js';
import { Choice } from '../parts/choice.js';
import { useNow } from '../parts/clock.js';
import { replaceFilters } from '../parts/link.js';
import { List } from '../parts/list.js';
import { Failure, Loaded } from '../parts/loaded.js';
import { Badge, Panel, type Tone } from '../parts/panel.js';
import { Remedies } from '../parts/remedies.js';
import { Sentence } from '../parts/sentence.js';
import { Table } from '../parts/table.js';
import { Age } from '../parts/time.js';
import type { Filters } from '../rules/route.js';
import { deliveriesOf, remediesOf, SILENCE_WORDS, silenceOf } from '../rules/silence.js';

const STATUSES: Readonly<Record<Delivery['status'], Tone>> = {
  pending: 'quiet',
  failed: 'attention',
  delivered: 'well',
};
type DeliveryStatus = keyof typeof STATUSES;

const EMPTY: Readonly<Record<DeliveryStatus | 'any', string>> = {
  pending: 'No delivery waits or is tried again.',
  failed: 'No delivery was given up.',
  delivered: 'Nothing has been delivered.',
  any: 'There is no delivery.',
};

interface Props {
  readonly filters: Filters;
}

export function WebhooksPage({ filters }: Props) {
  const endpoints = useEndpoints();
  return (
    <>
      <h1>Webhooks</h1>
      <Panel title="Endpoints" isWide>
        <Loaded query={endpoints}>
          {({ items }) => (
            <Table
              label="Endpoints"
              rows={items}
              keyOf={({ id }) => id}
              empty="There is no endpoint. Apps may read the feed or the stream instead."
              columns={COLUMNS}
            />
          )}
        </Loaded>
      </Panel>
      <Deliveries filters={filters} endpoints={endpoints.data?.items ?? null} />
    </>
  );
}

const COLUMNS = [
  {
    title: 'Endpoint',
    of: ({ url, description }: Endpoint) => (
      <>
        <strong className="address">{url}</strong>
        {description !== '' && <div className="soft">{description}</div>}
      </>
    ),
  },
  { title: 'How it is', of: (endpoint: Endpoint) => <How of={endpoint} /> },
  {
    title: 'Last delivery',
    of: ({ lastDeliveredAt }: Endpoint) => <Age at={lastDeliveredAt} none="never" />,
  },
  { title: 'Waiting', of: ({ pending }: Endpoint) => countOf(pending, 'event') },
  {
    title: 'Deliveries',
    of: (endpoint: Endpoint) => (
      <button
        type="button"
        className="small"
        onClick={() => replaceFilters('webhooks', deliveriesOf(endpoint))}
      >
        Show
      </button>
    ),
  },
];

function How({ of: endpoint }: { readonly of: Endpoint }) {
  const { tone, sentence, next } = silenceOf(endpoint, useNow());
  return (
    <>
      <Badge tone={tone}>{SILENCE_WORDS[tone]}</Badge> {sentence}
      {next !== null && (
        <div className="soft">
          Next: <Sentence text={next} />
        </div>
      )}
      <Remedies of={remediesOf(endpoint)} page={null} />
    </>
  );
}

/** `endpoints`: null until they have been read. */
function Deliveries({ filters, endpoints }: Props & { readonly endpoints: readonly Endpoint[] | null }) {
  const statuses = Object.keys(STATUSES) as DeliveryStatus[];
  const status =
    filters.status === 'any' ? undefined : (statuses.find((each) => each === filters.status) ?? 'pending');
  // Keeps the filter of the address while the endpoints are unknown, so that deliveries of other endpoints are not shown.
  const options = endpoints ?? [{ id: filters.endpoint ?? '', url: filters.endpoint ?? 'any' }];
  const endpointId = options.find(({ id }) => id !== '' && id === filters.endpoint)?.id;
  // Default: `pending`. A failing delivery stays pending until the service gives it up.
  const list = useList('webhooks', '/api/v1/webhook-deliveries', { status, endpointId, limit: 50 });
  const filter = (name: string) => (value: string) =>
    replaceFilters('webhooks', { ...filters, [name]: value });
  const addressOf = (id: string) => endpoints?.find((each) => each.id === id)?.url ?? id;
  return (
    <Panel title="Deliveries" isWide>
      <div className="filters">
        <Choice
          label="Status"
          value={status ?? 'any'}
          options={[...statuses, 'any'].map((each) => [each, each])}
          onChoice={filter('status')}
        />
        <Choice
          label="Endpoint"
          value={endpointId ?? ''}
          options={[
            ['', 'any'],
            ...options.filter(({ id }) => id !== '').map(({ id, url }) => [id, url] as const),
          ]}
          onChoice={filter('endpoint')}
        />
      </div>
      <List
        label="Deliveries"
        list={list}
        unit="delivery"
        units="deliveries"
        keyOf={({ id }) => id}
        empty={EMPTY[status ?? 'any']}
        columns={[
          {
            title: 'Event',
            of: ({ type }) => <code className="word">{type.replace(/^pv\.|\.v\d+$/g, '')}</code>,
          },
          { title: 'Endpoint', of: ({ endpointId: id }) => <span className="address">{addressOf(id)}</span> },
          { title: 'Status', of: (each) => <Badge tone={STATUSES[each.status]}>{each.status}</Badge> },
          {
            title: 'Attempts',
            of: ({ attempts, lastAttemptAt }) => <Attempts attempts={attempts} at={lastAttemptAt} />,
          },
          { title: 'Last answer', of: (each) => <LastAnswer of={each} /> },
          { title: 'Send again', of: (each) => <Redeliver of={each} /> },
        ]}
      />
    </Panel>
  );
}

const Attempts = ({ attempts, at }: { readonly attempts: number; readonly at: string | null }) => (
  <>
    {countOf(attempts, 'attempt')}
    {at !== null && (
      <>
        , the last <Age at={at} />
      </>
    )}
  </>
);

/** Shows the last response of the receiver. Hides it behind a summary, because it may be any text and is long on a phone. */
function LastAnswer({ of: { lastStatus, lastError, lastAnswer } }: { readonly of: Delivery }) {
  const status = lastStatus === null ? (lastError ?? 'none') : `HTTP ${lastStatus}`;
  const error = lastStatus === null ? null : lastError;
  if (error === null && !lastAnswer) return status;
  return (
    <details>
      <summary>{status}</summary>
      {error !== null && <div className="soft">{error}</div>}
      {lastAnswer !== null && lastAnswer !== '' && <pre>{lastAnswer}</pre>}
    </details>
  );
}

function Redeliver({ of: { id, status, attempts } }: { readonly of: Delivery }) {
  const redeliver = useMutation({
    mutationFn: () => client.POST('/api/v1/webhook-deliveries/{id}/redeliver', { params: { path: { id } } }),
    onSuccess: () => invalidate('webhooks'),
  });
  if (status === 'pending' && attempts === 0) return <span className="soft">it will be sent</span>;
  return (
    <>
      <button
        type="button"
        className="small"
        disabled={redeliver.isPending}
        onClick={() => redeliver.mutate()}
      >
        Redeliver
      </button>
      <Failure of={redeliver.error} />
    </>
  );
}
