import { TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Schemas } from '#client/client.js';
import { client, type Endpoint } from '../api/client.js';
import { useEndpoints } from '../api/queries.js';
import { countOf } from '../format/words.js';
import { Act, textIn } from '../parts/act.js';
import { useNow } from '../parts/clock.js';
import { Deliveries } from '../parts/deliveries.js';
import { EventTypes, typesIn } from '../parts/event-types.js';
import { Link } from '../parts/link.js';
import { Loaded } from '../parts/loaded.js';
import { Badge, Panel } from '../parts/panel.js';
import { PlainList } from '../parts/plain-list.js';
import { Remedies } from '../parts/remedies.js';
import { Secret } from '../parts/secret.js';
import { Sentence } from '../parts/sentence.js';
import { Age } from '../parts/time.js';
import type { Filters } from '../rules/route.js';
import { remediesOf, SILENCE_WORDS, silenceOf, waitingOf } from '../rules/silence.js';

export function WebhooksPage({ filters }: { readonly filters: Filters }) {
  const endpoints = useEndpoints();
  const [created, setCreated] = useState<Schemas['CreatedWebhookEndpointView'] | null>(null);
  return (
    <>
      <div className="title">
        <h1>Webhooks</h1>
        <Act
          label="Create an endpoint"
          isMain
          run={create}
          done={({ url }) => `${url} gets what it subscribed to, from the next event on.`}
          page={({ id }) => ({ to: 'webhooks', id })}
          changes={['webhooks']}
          onDone={setCreated}
          isWide
          ask={<NewEndpoint />}
        />
      </div>
      {created !== null && (
        <Secret
          title="The secret that signs what the endpoint gets"
          secret={created.secret}
          onClose={() => setCreated(null)}
        />
      )}
      <Panel title="Endpoints" isWide>
        <Loaded query={endpoints}>
          {({ items }) => (
            <PlainList
              label="Endpoints"
              rows={items}
              keyOf={({ id }) => id}
              empty="There is no endpoint. Apps may read the feed or the stream instead."
              pageOf={({ id }) => ({ to: 'webhooks', id })}
              columns={COLUMNS}
            />
          )}
        </Loaded>
      </Panel>
      <Deliveries filters={filters} endpoints={endpoints.data?.items ?? null} />
    </>
  );
}

async function create(form: FormData) {
  const body = {
    url: textIn(form, 'url') ?? '',
    description: textIn(form, 'description'),
    types: typesIn(form),
  };
  const header = { 'Idempotency-Key': crypto.randomUUID() };
  return (await client.POST('/api/v1/webhook-endpoints', { params: { header }, body })).data;
}

const NewEndpoint = () => (
  <>
    <TextInput name="url" type="url" label="URL" placeholder="https://crm.example.com/hooks" required />
    <TextInput name="description" label="Description" description="Whose app it is" />
    <EventTypes of={[]} />
  </>
);

const COLUMNS = [
  {
    title: 'Endpoint',
    of: ({ id, url, description }: Endpoint) => (
      <>
        <Link to="webhooks" id={id}>
          {url}
        </Link>
        {description !== '' && <div className="soft">{description}</div>}
      </>
    ),
    text: ({ url }: Endpoint) => url,
  },
  {
    title: 'How it is',
    of: (endpoint: Endpoint) => <How of={endpoint} />,
    text: (endpoint: Endpoint) => silenceOf(endpoint, new Date()).sentence,
  },
  {
    title: 'Last delivery',
    of: ({ lastDeliveredAt }: Endpoint) => <Age at={lastDeliveredAt} none="never" />,
    text: ({ lastDeliveredAt }: Endpoint) => lastDeliveredAt,
  },
  {
    title: 'Waiting',
    of: (endpoint: Endpoint) => countOf(waitingOf(endpoint), 'event'),
    text: (endpoint: Endpoint) => waitingOf(endpoint),
  },
];

export function How({ of: endpoint }: { readonly of: Endpoint }) {
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
