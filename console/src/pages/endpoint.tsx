import { Checkbox, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { readPage } from '#client/pages.js';
import type { Schemas } from '#client/client.js';
import { client, type Delivery, type Endpoint } from '../api/client.js';
import { useInterval } from '../api/queries.js';
import { countOf, eventNameOf } from '../format/words.js';
import { Act, textIn } from '../parts/act.js';
import { Copy } from '../parts/copy.js';
import {
  AnswerText,
  Deliveries,
  Fold,
  lastOf,
  PreviousAttempts,
  Redeliver,
  Sent,
  statusOf,
} from '../parts/deliveries.js';
import { EventTypes, typesIn } from '../parts/event-types.js';
import { navigate } from '../parts/link.js';
import { Empty, Loaded, Refusal } from '../parts/loaded.js';
import { Facts, Panel } from '../parts/panel.js';
import { Secret } from '../parts/secret.js';
import { Success } from '../parts/success.js';
import { Age, Instant } from '../parts/time.js';
import { pathOf, type Filters } from '../rules/route.js';
import { waitingOf } from '../rules/silence.js';
import { How } from './webhooks.js';
import { readUpTo } from '../api/lists.js';

interface Props {
  readonly id: string;
  readonly filters: Filters;
}

/** Shows one webhook endpoint: why it is silent, what it answered last, and what a person can do. */
export function EndpointPage({ id, filters }: Props) {
  const refetchInterval = useInterval(true);
  const endpoint = useQuery({
    queryKey: ['webhooks', 'endpoint', id],
    queryFn: async () =>
      (await client.GET('/api/v1/webhook-endpoints/{id}', { params: { path: { id } } })).data,
    refetchInterval,
  });
  const last = useQuery({
    queryKey: ['webhooks', 'last', id],
    queryFn: async () => {
      const read = (query: { status?: 'pending' }) =>
        readPage(client, '/api/v1/webhook-deliveries', {
          endpointId: id,
          tried: 'true',
          ...query,
          limit: 50,
        });
      const [newest, failing] = await Promise.all([read({}), read({ status: 'pending' })]);
      return latestOf([...newest.items, ...failing.items]);
    },
    refetchInterval,
  });
  return (
    <Loaded query={endpoint}>
      {(data) => (
        <>
          <div className="title">
            <h1>{data.url}</h1>
            <Acts of={data} />
          </div>
          <Panel title="Now" isWide>
            <div>
              <How of={data} />
            </div>
            <About of={data} />
          </Panel>
          <Panel title="Last answer" isWide>
            <Loaded query={last}>{(delivery) => <LastAnswer of={delivery} from={data} />}</Loaded>
          </Panel>
          <Success endpointId={id} />
          <Deliveries filters={filters} endpoints={[data]} endpointId={id} />
        </>
      )}
    </Loaded>
  );
}

/** Returns the delivery with the last attempt; null if nothing was tried. */
const latestOf = (deliveries: readonly Delivery[]): Delivery | null =>
  deliveries.toSorted((a, b) => Date.parse(b.lastAttemptAt ?? '') - Date.parse(a.lastAttemptAt ?? ''))[0] ??
  null;

interface AnswerProps {
  readonly of: Delivery | null;
  readonly from: Endpoint;
}

function LastAnswer({ of: delivery, from: endpoint }: AnswerProps) {
  if (delivery === null) return <Empty>No event has been sent to it yet. Test it.</Empty>;
  const answer = lastOf(delivery);
  return (
    <>
      <p>
        <strong>{statusOf(answer)}</strong> <Age at={delivery.lastAttemptAt} />
        <span className="soft"> ({countOf(delivery.attempts, 'attempt')})</span>, to
      </p>
      <Sent of={delivery} to={endpoint} />
      <AnswerText of={answer} />
      <Fold summary="Attempts before">
        <PreviousAttempts of={delivery} />
      </Fold>
      <div>
        <Redeliver of={delivery} />
      </div>
    </>
  );
}

const About = ({ of: endpoint }: { readonly of: Endpoint }) => (
  <Facts
    facts={[
      ...(endpoint.description === '' ? [] : ([['Description', endpoint.description]] as const)),
      [
        'Gets',
        endpoint.types.length === 0 ? 'every type of event' : endpoint.types.map(eventNameOf).join(', '),
      ],
      ['Waiting', countOf(waitingOf(endpoint), 'event')],
      ['Last delivery', <Age key="last" at={endpoint.lastDeliveredAt} none="never" />],
      ...(endpoint.headerNames.length === 0
        ? []
        : ([['Own headers', `${endpoint.headerNames.join(', ')} (values are not shown)`]] as const)),
      ...(endpoint.previousSecretUntil === null
        ? []
        : ([
            [
              'Old secret',
              <>
                signs, too, until <Instant key="old" at={endpoint.previousSecretUntil} />
              </>,
            ],
          ] as const)),
      ['Created', <Instant key="created" at={endpoint.createdAt} />],
      ['Id', <Copy key="id" text={endpoint.id} />],
    ]}
  />
);

function Acts({ of: endpoint }: { readonly of: Endpoint }) {
  const [secret, setSecret] = useState<string | null>(null);
  const params = { path: { id: endpoint.id } };
  const page = { to: 'webhooks', id: endpoint.id } as const;
  const changes = ['webhooks', 'stalled', 'status'] as const;
  const change = (body: Schemas['WebhookEndpointChange']) =>
    client.PATCH('/api/v1/webhook-endpoints/{id}', { params, body });
  return (
    <span className="actions">
      <Act
        label="Test"
        isMain
        run={async () => {
          const { data } = await client.POST('/api/v1/webhook-endpoints/{id}/test', { params });
          if (!data.delivered)
            throw new Refusal(`It did not take the test event: ${data.error ?? `HTTP ${data.status}`}.`);
          return data;
        }}
        done={({ status, durationMs }) => `It took the test event: HTTP ${status} after ${durationMs} ms.`}
        page={page}
        changes={changes}
      />
      {endpoint.enabled ? (
        <Act
          label="Disable"
          run={() => change({ enabled: false })}
          done="It is disabled. Events wait for it."
          page={page}
          changes={changes}
          ask={
            <p>Nothing more is sent to it until it is enabled again. It then continues where it stopped.</p>
          }
        />
      ) : (
        <Act
          label="Enable"
          run={(form) => change({ enabled: true, ...(form.has('skip') && { skipMissed: true }) })}
          done="It is enabled."
          page={page}
          changes={changes}
          ask={
            <>
              <p>
                It continues with the event at which it stopped; {countOf(waitingOf(endpoint), 'event')}{' '}
                waiting.
              </p>
              <Checkbox name="skip" label="Skip what it has missed" />
            </>
          }
        />
      )}
      <Act
        label="Send again"
        run={(form) => resend(endpoint.id, form)}
        done={(count) => `${countOf(count, 'event')} will be sent again.`}
        page={page}
        changes={changes}
        ask={
          <>
            <TextInput
              name="since"
              type="datetime-local"
              label="Events since"
              description="In your time zone"
              required
            />
            <Checkbox name="onlyFailed" label="Only what was given up" defaultChecked />
          </>
        }
      />
      <Act
        label="Change"
        isWide
        run={(form) =>
          change({
            url: textIn(form, 'url'),
            description: textIn(form, 'description') ?? '',
            types: typesIn(form),
          })
        }
        done="It is changed."
        page={page}
        changes={changes}
        ask={
          <>
            <TextInput name="url" type="url" label="URL" defaultValue={endpoint.url} required />
            <TextInput name="description" label="Description" defaultValue={endpoint.description} />
            <EventTypes of={endpoint.types} />
          </>
        }
      />
      <Act
        label="Rotate the secret"
        run={async () =>
          (await client.POST('/api/v1/webhook-endpoints/{id}/rotate-secret', { params, body: {} })).data
        }
        done="It has a new secret."
        page={page}
        changes={changes}
        onDone={(rotated) => setSecret(rotated.secret)}
        ask={
          <p>
            The new secret is shown once. For 24 hours, the old one signs, too, so that its app can change
            over.
          </p>
        }
      />
      <Act
        label="Delete"
        isDanger
        run={() => client.DELETE('/api/v1/webhook-endpoints/{id}', { params })}
        done="The endpoint is deleted."
        page={{ to: 'webhooks' }}
        changes={changes}
        onDone={() => navigate(pathOf('webhooks'))}
        ask={<p className="danger">Its log and all that waits for it are deleted, too.</p>}
      />
      {secret !== null && <Secret title="The new secret" secret={secret} onClose={() => setSecret(null)} />}
    </span>
  );
}

/** The most pages of 200 deliveries that are read to find the first one since an instant. */
const MOST_PAGES = 25;

/** Sends what was delivered since an instant again, or only what was given up. Returns the number of events. */
async function resend(id: string, form: FormData): Promise<number> {
  const since = new Date(textIn(form, 'since') ?? '').toISOString();
  const onlyFailed = form.has('onlyFailed');
  const params = { path: { id } };
  // A redelivery begins at a sequence, which the oldest delivery since then has.
  const query = { endpointId: id, since, ...(onlyFailed && { status: 'failed' as const }) };
  const { items, isPart } = await readUpTo(MOST_PAGES, '/api/v1/webhook-deliveries', query);
  if (isPart) throw new Refusal('There are more than 5,000 deliveries since then: choose a later time.');
  const oldest = items.at(-1);
  if (oldest === undefined) return 0;
  let after: string | null = String(BigInt(oldest.sequence) - 1n);
  let count = 0;
  do {
    const { data }: { data: Schemas['RedeliveryView'] } = await client.POST(
      '/api/v1/webhook-endpoints/{id}/redeliver',
      { params, body: { after, onlyFailed } },
    );
    count += data.redelivered;
    after = data.next;
  } while (after !== null);
  return count;
}
