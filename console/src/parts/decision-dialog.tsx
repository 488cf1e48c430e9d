import { Checkbox, Textarea, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { client, type Registration } from '../api/client.js';
import { invalidate } from '../api/queries.js';
import { idFault, isComplete, readPasted, type ConfirmedIds } from '../rules/confirmed-user.js';
import { Dialog } from './dialog.js';
import { Failure } from './loaded.js';
import { tellDone } from './notify.js';

const WORDS = {
  resolve: {
    title: 'The provider has the customer',
    button: 'Enter this user',
    operation: 'resolveRegistration',
    done: 'The user is entered.',
  },
  retry: {
    title: 'Send the registration again',
    button: 'Send again',
    operation: 'retryRegistration',
    done: 'The registration is sent again.',
  },
  discard: {
    title: 'Give the registration up',
    button: 'Give up',
    operation: 'discardRegistration',
    done: 'The registration is given up.',
  },
} as const;

export interface DecisionProps {
  readonly registration: Registration;
  readonly decision: keyof typeof WORDS;
  readonly onClose: () => void;
}

/** Lets a person decide about an uncertain registration. */
export function DecisionDialog({ registration, decision, onClose }: DecisionProps) {
  const { tenantReference, gridLocations, stalled } = registration;
  const [isConfirmed, setConfirmed] = useState(false);
  const [ids, setIds] = useState<ConfirmedIds>({
    user: '',
    locations: Object.fromEntries(gridLocations.map(({ ean }) => [ean, ''])),
  });
  const { title, button, operation, done } = WORDS[decision];
  const decide = useMutation({
    mutationFn: () => send(registration, decision, ids),
    onSuccess: async () => {
      await invalidate('registrations', 'status', 'stalled');
      tellDone(`${tenantReference}: ${done}`, { to: 'customers', id: registration.id });
      onClose();
    },
  });
  const isReady = decision === 'resolve' ? isComplete(ids) : decision === 'discard' || isConfirmed;
  const remedy = stalled?.remedies.find(({ operationId }) => operationId === operation);
  return (
    <Dialog
      title={remedy?.label ?? title}
      button={button}
      isDanger={decision !== 'resolve'}
      isDisabled={!isReady || decide.isPending}
      isWide={decision === 'resolve'}
      onSubmit={() => decide.mutate()}
      onClose={onClose}
    >
      <p>
        Customer <strong>{tenantReference}</strong>
      </p>
      {decision === 'resolve' && <ConfirmedUser of={registration} ids={ids} onChange={setIds} />}
      {decision === 'retry' && (
        <>
          <p className="danger">
            If the remote service has already registered this customer, a second registration creates a second
            user for the same grid connection, which nobody can remove from here.
          </p>
          <Checkbox
            label="The provider has confirmed that no user with this reference exists."
            checked={isConfirmed}
            onChange={(event) => setConfirmed(event.currentTarget.checked)}
          />
        </>
      )}
      {decision === 'discard' && (
        <p>
          The app may then register the customer anew. If the remote service has registered the customer after
          all, that user stays there unused.
        </p>
      )}
      <Failure of={decide.error} />
    </Dialog>
  );
}

interface ConfirmedProps {
  readonly of: Registration;
  readonly ids: ConfirmedIds;
  readonly onChange: (ids: ConfirmedIds) => void;
}

/** Takes the answer of the provider as it is, and shows each id, to be compared and corrected. */
function ConfirmedUser({ of: registration, ids, onChange }: ConfirmedProps) {
  const [text, setText] = useState('');
  const read = readPasted(text, registration);
  const paste = (pasted: string) => {
    setText(pasted);
    const result = readPasted(pasted, registration);
    if ('ids' in result) onChange(result.ids);
  };
  const all = [ids.user, ...Object.values(ids.locations)];
  const field = (key: string, label: string, value: string, change: (id: string) => ConfirmedIds) => (
    <TextInput
      key={key}
      label={label}
      value={value}
      required
      autoComplete="off"
      spellCheck={false}
      error={idFault(
        value,
        all.filter((_, at) => at !== all.indexOf(value)),
      )}
      onChange={(event) => onChange(change(event.currentTarget.value.trim()))}
    />
  );
  return (
    <>
      <Textarea
        label="What the provider confirmed"
        description="Paste it as it is: the mail, the rows, or the user object. The ids are read from it."
        rows={4}
        spellCheck={false}
        value={text}
        error={text !== '' && 'fault' in read ? read.fault : null}
        onChange={(event) => paste(event.currentTarget.value)}
      />
      {field('user', 'User id', ids.user, (user) => ({ ...ids, user }))}
      {registration.gridLocations.map(({ ean }) =>
        field(ean, `Grid location id of ${ean}`, ids.locations[ean] ?? '', (id) => ({
          ...ids,
          locations: { ...ids.locations, [ean]: id },
        })),
      )}
    </>
  );
}

async function send(
  { id, tenantReference, gridLocations }: Registration,
  decision: DecisionProps['decision'],
  { user, locations }: ConfirmedIds,
) {
  const params = { path: { id } };
  if (decision !== 'resolve')
    return client.POST(`/api/v1/registrations/{id}/${decision}` as const, { params });
  return client.POST('/api/v1/registrations/{id}/resolve', {
    params,
    body: {
      id: user.toLowerCase(),
      tenantReference,
      gridLocations: gridLocations.map(({ ean }) => ({ ean, id: locations[ean]!.toLowerCase() })),
    },
  });
}
