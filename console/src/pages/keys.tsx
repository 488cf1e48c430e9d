import { Alert, Checkbox, Code, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Schemas } from '#client/client.js';
import { client } from '../api/client.js';
import { useList } from '../api/lists.js';
import { Act, textIn } from '../parts/act.js';
import { Choice } from '../parts/choice.js';
import { List } from '../parts/list.js';
import { Badge } from '../parts/panel.js';
import { Secret } from '../parts/secret.js';
import { ShortId } from '../parts/short-id.js';
import { Age, Instant } from '../parts/time.js';
import { actorWords, withoutConsole } from '../rules/audit.js';
import { PRESETS, SCOPE_WORDS } from '../rules/presets.js';
import type { Scope } from '../rules/scopes.js';

type Key = Schemas['ApiKeyView'];

export function KeysPage() {
  const list = useList('keys', '/api/v1/api-keys', { limit: 50 });
  const [created, setCreated] = useState<Schemas['CreatedApiKeyView'] | null>(null);
  const names = new Map(
    list.data?.pages.flatMap(({ items }) => items).map(({ id, name }) => [`key:${id}`, name]),
  );
  const nameOf = (actor: string) => actorWords({ actor, keyName: names.get(withoutConsole(actor)) ?? null });
  return (
    <>
      <div className="title">
        <h1>Keys</h1>
        <Act
          label="Create a key"
          isMain
          run={create}
          done={({ name }) => `The key “${name}” is created.`}
          page={({ id }) => ({ to: 'audit', filters: { targets: id } })}
          changes={['keys', 'audit']}
          onDone={setCreated}
          ask={<NewKey />}
        />
      </div>
      <p className="soft">
        Give each app and each person a key of its own, so that it can be revoked alone, and the audit log
        says who did what.
      </p>
      {created !== null && (
        <Secret title={`The key “${created.name}”`} secret={created.key} onClose={() => setCreated(null)} />
      )}
      <List
        label="Keys"
        list={list}
        unit="key"
        order="the newest first"
        keyOf={({ id }) => id}
        empty="There is no key besides ADMIN_API_KEY."
        columns={[
          { title: 'Name', of: ({ name }) => <strong>{name}</strong>, text: ({ name }) => name },
          { title: 'Scopes', of: ({ scopes }) => scopes.join(', ') },
          { title: 'State', of: (key) => <State of={key} />, text: ({ revokedAt }) => revokedAt ?? 'valid' },
          {
            title: 'Last used',
            of: ({ lastUsedAt }) => <Age at={lastUsedAt} none="never" />,
            text: ({ lastUsedAt }) => lastUsedAt,
          },
          {
            title: 'Refused',
            of: (key) => <Refused of={key} />,
            text: (key) => key.refused401 + key.refused403 + key.refused429,
          },
          {
            title: 'Created',
            of: ({ createdAt, createdBy }) => (
              <>
                <Instant at={createdAt} /> <span className="soft">by {nameOf(createdBy)}</span>
              </>
            ),
            text: ({ createdAt }) => createdAt,
          },
          { title: 'Id', of: ({ id }) => <ShortId of={id} />, text: ({ id }) => id },
          { title: 'Actions', of: (key) => key.revokedAt === null && <Revoke of={key} /> },
        ]}
      />
    </>
  );
}

async function create(form: FormData) {
  const scopes = form.getAll('scope').filter((each) => typeof each === 'string') as Scope[];
  const body = { name: textIn(form, 'name') ?? '', scopes };
  const header = { 'Idempotency-Key': crypto.randomUUID() };
  return (await client.POST('/api/v1/api-keys', { params: { header }, body })).data;
}

/** The fields of a new key. A preset marks the scopes that a role needs. */
function NewKey() {
  const [scopes, setScopes] = useState<readonly Scope[]>(PRESETS.helpdesk.scopes);
  const [preset, setPreset] = useState('helpdesk');
  const choose = (name: string) => {
    setPreset(name);
    const chosen = PRESETS[name];
    if (chosen !== undefined) setScopes(chosen.scopes);
  };
  const toggle = (scope: Scope) => {
    setPreset('');
    setScopes(scopes.includes(scope) ? scopes.filter((each) => each !== scope) : [...scopes, scope]);
  };
  return (
    <>
      <TextInput
        name="name"
        label="Name"
        description="Of the person or app that gets it"
        required
        maxLength={100}
      />
      <Choice
        label="For"
        value={preset}
        options={[
          ...Object.entries(PRESETS).map(([name, { title }]) => [name, title] as const),
          ['', 'something else'],
        ]}
        onChoice={choose}
      />
      <Stack gap="xs" role="group" aria-label="Scopes">
        {(Object.keys(SCOPE_WORDS) as Scope[]).map((scope) => (
          <Checkbox
            key={scope}
            name="scope"
            value={scope}
            label={<Code>{scope}</Code>}
            description={SCOPE_WORDS[scope]}
            checked={scopes.includes(scope)}
            onChange={() => toggle(scope)}
          />
        ))}
      </Stack>
      {scopes.includes('admin') && (
        <Alert color="red" className="failure">
          admin includes all other scopes, and may create keys.
        </Alert>
      )}
    </>
  );
}

const State = ({ of: { revokedAt } }: { readonly of: Key }) =>
  revokedAt === null ? (
    <Badge tone="well">valid</Badge>
  ) : (
    <>
      <Badge tone="ended">revoked</Badge> <Age at={revokedAt} />
    </>
  );

function Refused({ of: { refused401, refused403, refused429, lastRefusedAt } }: { readonly of: Key }) {
  const parts = [
    [refused401, 'after it was revoked'],
    [refused403, 'for lack of a scope'],
    [refused429, 'by its rate limit'],
  ].flatMap(([count, why]) => (count === 0 ? [] : [`${count} ${why}`]));
  if (parts.length === 0) return <span className="soft">never</span>;
  return (
    <>
      {parts.join(', ')}
      {lastRefusedAt !== null && (
        <span className="soft">
          , last <Age at={lastRefusedAt} />
        </span>
      )}
    </>
  );
}

const Revoke = ({ of: { id, name } }: { readonly of: Key }) => (
  <Act
    label="Revoke"
    isDanger
    run={() => client.DELETE('/api/v1/api-keys/{id}', { params: { path: { id } } })}
    done={`The key “${name}” is revoked.`}
    page={{ to: 'audit', filters: { targets: id } }}
    changes={['keys', 'audit']}
    ask={
      <>
        <p>
          Key <strong>{name}</strong>
        </p>
        <p className="danger">
          Requests with it are refused within 5 seconds. It cannot be made valid again.
        </p>
      </>
    }
  />
);
