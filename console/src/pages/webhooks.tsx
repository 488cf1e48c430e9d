import { TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Schemas } from '#client/client.js';
import { client, type Endpoint, once } from '../api/client.js';
import { useEndpoints } from '../api/queries.js';
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
import { remediesOf, silenceOf, waitingOf } from '../rules/silence.js';
import { texts } from '../texts.js';

export function WebhooksPage({ filters }: { readonly filters: Filters }) {
  const endpoints = useEndpoints();
  const [created, setCreated] = useState<Schemas['CreatedWebhookEndpointView'] | null>(null);
  return (
    <>
      <div className="title">
        <h1>{texts.pages.webhooks}</h1>
        <Act
          label={texts.webhooks.create}
          isMain
          run={create}
          done={({ url }) => texts.webhooks.created(url)}
          page={({ id }) => ({ to: 'webhooks', id })}
          changes={['webhooks']}
          onDone={setCreated}
          isWide
          ask={<NewEndpoint />}
        />
      </div>
      {created !== null && (
        <Secret title={texts.webhooks.secret} secret={created.secret} onClose={() => setCreated(null)} />
      )}
      <Panel title={texts.webhooks.endpoints} isWide>
        <Loaded query={endpoints}>
          {({ items }) => (
            <PlainList
              label={texts.webhooks.endpoints}
              rows={items}
              keyOf={({ id }) => id}
              empty={texts.webhooks.none}
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

function create(form: FormData) {
  const body = {
    url: textIn(form, 'url') ?? '',
    description: textIn(form, 'description'),
    types: typesIn(form),
  };
  return once(body, (header) => client.POST('/api/v1/webhook-endpoints', { params: { header }, body }));
}

const NewEndpoint = () => (
  <>
    <TextInput
      name="url"
      type="url"
      label={texts.titles.url}
      placeholder={texts.webhooks.urlExample}
      required
    />
    <TextInput name="description" label={texts.titles.description} description={texts.webhooks.whoseApp} />
    <EventTypes of={[]} />
  </>
);

const COLUMNS = [
  {
    title: texts.titles.endpoint,
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
    title: texts.titles.howItIs,
    of: (endpoint: Endpoint) => <How of={endpoint} />,
    text: (endpoint: Endpoint) => silenceOf(endpoint, new Date()).sentence,
  },
  {
    title: texts.titles.lastDelivery,
    of: ({ lastDeliveredAt }: Endpoint) => <Age at={lastDeliveredAt} none={texts.values.never} />,
    text: ({ lastDeliveredAt }: Endpoint) => lastDeliveredAt,
  },
  {
    title: texts.titles.waiting,
    of: (endpoint: Endpoint) => texts.counts.event(waitingOf(endpoint)),
    text: (endpoint: Endpoint) => waitingOf(endpoint),
  },
];

export function How({ of: endpoint }: { readonly of: Endpoint }) {
  const { tone, sentence, next } = silenceOf(endpoint, useNow());
  return (
    <>
      <Badge tone={tone}>{texts.silence.words[tone]}</Badge> {sentence}
      {next !== null && <div className="soft">{texts.stall.next(<Sentence text={next} />)}</div>}
      <Remedies of={remediesOf(endpoint)} page={null} />
    </>
  );
}
