import { Checkbox, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { readPage } from '#client/pages.js';
import type { Schemas } from '#client/client.js';
import { client, once, type Delivery, type Endpoint } from '../api/client.js';
import { useInterval } from '../api/queries.js';
import { eventNameOf } from '../format/words.js';
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
import { texts } from '../texts.js';

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
          <Panel title={texts.duty.now} isWide>
            <div>
              <How of={data} />
            </div>
            <About of={data} />
          </Panel>
          <Panel title={texts.titles.lastAnswer} isWide>
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
  if (delivery === null) return <Empty>{texts.endpoint.nothingSent}</Empty>;
  const answer = lastOf(delivery);
  return (
    <>
      <p>
        {texts.endpoint.lastAttempt(
          <strong>{statusOf(answer)}</strong>,
          <Age at={delivery.lastAttemptAt} />,
          <span className="soft">{texts.endpoint.attempts(delivery.attempts)}</span>,
        )}
      </p>
      <Sent of={delivery} to={endpoint} />
      <AnswerText of={answer} />
      <Fold summary={texts.endpoint.earlierAttempts}>
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
      ...(endpoint.description === '' ? [] : ([[texts.titles.description, endpoint.description]] as const)),
      [
        texts.endpoint.gets,
        endpoint.types.length === 0 ? texts.endpoint.everyType : endpoint.types.map(eventNameOf).join(', '),
      ],
      [texts.titles.waiting, texts.counts.event(waitingOf(endpoint))],
      [texts.titles.lastDelivery, <Age key="last" at={endpoint.lastDeliveredAt} none={texts.values.never} />],
      ...(endpoint.headerNames.length === 0
        ? []
        : ([[texts.endpoint.ownHeaders, texts.endpoint.headersOf(endpoint.headerNames)]] as const)),
      ...(endpoint.previousSecretUntil === null
        ? []
        : ([
            [
              texts.endpoint.oldSecret,
              texts.endpoint.signsUntil(<Instant key="old" at={endpoint.previousSecretUntil} />),
            ],
          ] as const)),
      [texts.titles.created, <Instant key="created" at={endpoint.createdAt} />],
      [texts.titles.id, <Copy key="id" text={endpoint.id} />],
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
        label={texts.buttons.test}
        isMain
        run={async () => {
          const { data } = await client.POST('/api/v1/webhook-endpoints/{id}/test', { params });
          if (!data.delivered)
            throw new Refusal(texts.endpoint.didNotTakeTest(data.error ?? `HTTP ${data.status}`));
          return data;
        }}
        done={({ status, durationMs }) => texts.endpoint.tookTest(status, durationMs)}
        page={page}
        changes={changes}
      />
      {endpoint.enabled ? (
        <Act
          label={texts.buttons.disable}
          run={() => change({ enabled: false })}
          done={texts.endpoint.disabled}
          page={page}
          changes={changes}
          ask={<p>{texts.endpoint.disableConsequence}</p>}
        />
      ) : (
        <Act
          label={texts.buttons.enable}
          run={(form) => change({ enabled: true, ...(form.has('skip') && { skipMissed: true }) })}
          done={texts.endpoint.enabled}
          page={page}
          changes={changes}
          ask={
            <>
              <p>{texts.endpoint.enableConsequence(waitingOf(endpoint))}</p>
              <Checkbox name="skip" label={texts.endpoint.skipMissed} />
            </>
          }
        />
      )}
      <Act
        label={texts.buttons.sendAgain}
        run={(form) => resend(endpoint.id, form)}
        done={(count) => texts.endpoint.willBeSent(count)}
        page={page}
        changes={changes}
        ask={
          <>
            <TextInput
              name="since"
              type="datetime-local"
              label={texts.endpoint.eventsSince}
              description={texts.endpoint.inYourTimeZone}
              required
            />
            <Checkbox name="onlyFailed" label={texts.endpoint.onlyGivenUp} defaultChecked />
          </>
        }
      />
      <Act
        label={texts.buttons.change}
        isWide
        run={(form) =>
          change({
            url: textIn(form, 'url'),
            description: textIn(form, 'description') ?? '',
            types: typesIn(form),
          })
        }
        done={texts.endpoint.changed}
        page={page}
        changes={changes}
        ask={
          <>
            <TextInput name="url" type="url" label={texts.titles.url} defaultValue={endpoint.url} required />
            <TextInput
              name="description"
              label={texts.titles.description}
              defaultValue={endpoint.description}
            />
            <EventTypes of={endpoint.types} />
          </>
        }
      />
      <Act
        label={texts.endpoint.rotateSecret}
        run={() =>
          once({ rotated: endpoint.id }, (header) =>
            client.POST('/api/v1/webhook-endpoints/{id}/rotate-secret', {
              params: { ...params, header },
              body: {},
            }),
          )
        }
        done={texts.endpoint.rotated}
        page={page}
        changes={changes}
        onDone={(rotated) => setSecret(rotated.secret)}
        ask={<p>{texts.endpoint.rotateConsequence}</p>}
      />
      <Act
        label={texts.buttons.delete}
        isDanger
        run={() => client.DELETE('/api/v1/webhook-endpoints/{id}', { params })}
        done={texts.endpoint.deleted}
        page={{ to: 'webhooks' }}
        changes={changes}
        onDone={() => navigate(pathOf('webhooks'))}
        ask={<p className="danger">{texts.endpoint.deleteWarning}</p>}
      />
      {secret !== null && (
        <Secret title={texts.endpoint.newSecret} secret={secret} onClose={() => setSecret(null)} />
      )}
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
  if (isPart) throw new Refusal(texts.endpoint.tooMany);
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
