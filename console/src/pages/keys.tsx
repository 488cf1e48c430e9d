import { Alert, Checkbox, Code, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Schemas } from '#client/client.js';
import { client, once } from '../api/client.js';
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
import { texts } from '../texts.js';

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
        <h1>{texts.pages.keys}</h1>
        <Act
          label={texts.keys.create}
          isMain
          run={create}
          done={({ name }) => texts.keys.created(name)}
          page={({ id }) => ({ to: 'audit', filters: { targets: id } })}
          changes={['keys', 'audit']}
          onDone={setCreated}
          ask={<NewKey />}
        />
      </div>
      <p className="soft">{texts.keys.explanation}</p>
      {created !== null && (
        <Secret
          title={texts.keys.titleOf(created.name)}
          secret={created.key}
          onClose={() => setCreated(null)}
        />
      )}
      <List
        label={texts.pages.keys}
        list={list}
        count={texts.counts.key}
        order={texts.orders.newestFirst}
        keyOf={({ id }) => id}
        empty={texts.keys.none}
        columns={[
          { title: texts.titles.name, of: ({ name }) => <strong>{name}</strong>, text: ({ name }) => name },
          { title: texts.titles.scopes, of: ({ scopes }) => scopes.join(', ') },
          {
            title: texts.titles.state,
            of: (key) => <State of={key} />,
            text: ({ revokedAt }) => revokedAt ?? texts.keys.valid,
          },
          {
            title: texts.titles.lastUsed,
            of: ({ lastUsedAt }) => <Age at={lastUsedAt} none={texts.values.never} />,
            text: ({ lastUsedAt }) => lastUsedAt,
          },
          {
            title: texts.titles.refused,
            of: (key) => <Refused of={key} />,
            text: (key) => key.refused401 + key.refused403 + key.refused429,
          },
          {
            title: texts.titles.created,
            of: ({ createdAt, createdBy }) => (
              <>
                <Instant at={createdAt} />{' '}
                <span className="soft">{texts.keys.createdBy(nameOf(createdBy))}</span>
              </>
            ),
            text: ({ createdAt }) => createdAt,
          },
          { title: texts.titles.id, of: ({ id }) => <ShortId of={id} />, text: ({ id }) => id },
          { title: texts.titles.actions, of: (key) => key.revokedAt === null && <Revoke of={key} /> },
        ]}
      />
    </>
  );
}

function create(form: FormData) {
  const scopes = form.getAll('scope').filter((each) => typeof each === 'string') as Scope[];
  const body = { name: textIn(form, 'name') ?? '', scopes };
  return once(body, (header) => client.POST('/api/v1/api-keys', { params: { header }, body }));
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
        label={texts.titles.name}
        description={texts.keys.nameHint}
        required
        maxLength={100}
      />
      <Choice
        label={texts.keys.for}
        value={preset}
        options={[
          ...Object.entries(PRESETS).map(([name, { title }]) => [name, title] as const),
          ['', texts.keys.somethingElse],
        ]}
        onChoice={choose}
      />
      <Stack gap="xs" role="group" aria-label={texts.titles.scopes}>
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
          {texts.keys.adminWarning}
        </Alert>
      )}
    </>
  );
}

const State = ({ of: { revokedAt } }: { readonly of: Key }) =>
  revokedAt === null ? (
    <Badge tone="well">{texts.keys.valid}</Badge>
  ) : (
    <>
      <Badge tone="ended">{texts.keys.revoked}</Badge> <Age at={revokedAt} />
    </>
  );

function Refused({ of: { refused401, refused403, refused429, lastRefusedAt } }: { readonly of: Key }) {
  const refusals = texts.keys.refusals(refused401, refused403, refused429);
  if (refusals === '') return <span className="soft">{texts.values.never}</span>;
  return (
    <>
      {refusals}
      {lastRefusedAt !== null && (
        <span className="soft">{texts.keys.lastRefusal(<Age at={lastRefusedAt} />)}</span>
      )}
    </>
  );
}

const Revoke = ({ of: { id, name } }: { readonly of: Key }) => (
  <Act
    label={texts.buttons.revoke}
    isDanger
    run={() => client.DELETE('/api/v1/api-keys/{id}', { params: { path: { id } } })}
    done={texts.keys.isRevoked(name)}
    page={{ to: 'audit', filters: { targets: id } }}
    changes={['keys', 'audit']}
    ask={
      <>
        <p>{texts.keys.named(name)}</p>
        <p className="danger">{texts.keys.revokeWarning}</p>
      </>
    }
  />
);
