import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { Schemas } from '#client/client.js';
import { client, type Registration } from '../api/client.js';
import { invalidate } from '../api/queries.js';
import { Dialog } from './dialog.js';
import { Failure } from './loaded.js';

const WORDS = {
  resolve: { title: 'The provider has the customer', button: 'Enter this user' },
  retry: { title: 'Send the registration again', button: 'Send again' },
  discard: { title: 'Give the registration up', button: 'Give up' },
} as const;

export interface DecisionProps {
  readonly registration: Registration;
  readonly decision: keyof typeof WORDS;
  readonly onClose: () => void;
}

/** Lets a person decide about an uncertain registration. */
export function DecisionDialog({ registration, decision, onClose }: DecisionProps) {
  const [isConfirmed, setConfirmed] = useState(false);
  const decide = useMutation({
    mutationFn: (form: FormData) => send(registration, decision, form),
    onSuccess: async () => {
      await invalidate('registrations', 'status', 'stalled');
      onClose();
    },
  });
  const isReady = decision !== 'retry' || isConfirmed;
  return (
    <Dialog
      {...WORDS[decision]}
      isDanger={decision !== 'resolve'}
      isDisabled={!isReady || decide.isPending}
      onSubmit={(form) => decide.mutate(form)}
      onClose={onClose}
    >
      <p>
        Customer <strong>{registration.tenantReference}</strong>
      </p>
      {decision === 'resolve' && <ConfirmedIds registration={registration} />}
      {decision === 'retry' && (
        <>
          <p className="danger">
            If the remote service has already registered this customer, a second registration creates a second
            user for the same grid connection, which nobody can remove from here.
          </p>
          <label className="check">
            <input
              type="checkbox"
              checked={isConfirmed}
              onChange={(event) => setConfirmed(event.target.checked)}
            />
            The provider has confirmed that no user with this reference exists.
          </label>
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

const UUID = '[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';

function ConfirmedIds({ registration }: Pick<DecisionProps, 'registration'>) {
  const field = (name: string, text: string) => (
    <label key={name}>
      {text}
      <input name={name} required pattern={UUID} title="An id such as 8bc432c7-fd1e-4d99-9dcb-2fbcb63255c5" />
    </label>
  );
  return (
    <>
      <p>Enter the ids that the provider confirmed.</p>
      {field('user', 'User id')}
      {registration.gridLocations.map(({ ean }) => field(ean, `Grid location id of ${ean}`))}
    </>
  );
}

async function send(
  { id, tenantReference, gridLocations }: Registration,
  decision: DecisionProps['decision'],
  form: FormData,
) {
  const params = { path: { id } };
  const idIn = (name: string) => {
    const value = form.get(name);
    return typeof value === 'string' ? value.trim().toLowerCase() : '';
  };
  if (decision !== 'resolve')
    return client.POST(`/api/v1/registrations/{id}/${decision}` as const, { params });
  const body: Schemas['ConfirmedUserInput'] = {
    id: idIn('user'),
    tenantReference,
    gridLocations: gridLocations.map(({ ean }) => ({ ean, id: idIn(ean) })),
  };
  return client.POST('/api/v1/registrations/{id}/resolve', { params, body });
}
