import { useMutation } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import type { Schemas } from '#client/client.js';
import { client, type Registration } from '../api/client.js';
import { queries } from '../api/queries.js';
import { Dialog } from './dialog.js';
import { failureOf } from './loaded.js';

export type Decision = 'resolve' | 'retry' | 'discard';

interface Props {
  readonly registration: Registration;
  readonly decision: Decision;
  readonly onClose: () => void;
}

const TITLES: Readonly<Record<Decision, string>> = {
  resolve: 'The provider has the customer',
  retry: 'Send the registration again',
  discard: 'Give the registration up',
};

const BUTTONS: Readonly<Record<Decision, string>> = {
  resolve: 'Enter this user',
  retry: 'Send again',
  discard: 'Give up',
};

/** Asks for a decision on an uncertain registration. */
export function DecisionDialog({ registration, decision, onClose }: Props) {
  const [isConfirmed, setConfirmed] = useState(false);
  const decide = useMutation({
    mutationFn: (form: FormData) => send(registration, decision, form),
    onSuccess: async () => {
      await Promise.all(
        ['registrations', 'status', 'stuck'].map((subject) =>
          queries.invalidateQueries({ queryKey: [subject] }),
        ),
      );
      onClose();
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    decide.mutate(new FormData(event.currentTarget));
  };
  const isReady = decision !== 'retry' || isConfirmed;
  return (
    <Dialog title={TITLES[decision]} onClose={onClose}>
      <form onSubmit={submit}>
        <p>
          Customer <strong>{registration.tenantReference}</strong>
        </p>
        {decision === 'resolve' && <ConfirmedIds registration={registration} />}
        {decision === 'retry' && (
          <>
            <p className="danger">
              If the remote service has already registered this customer, a second registration creates a
              second user for the same grid connection, which nobody can remove from here.
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
            The app may then register the customer anew. If the remote service has registered the customer
            after all, that user stays there unused.
          </p>
        )}
        {decide.isError && (
          <p className="failure" role="alert">
            {failureOf(decide.error)}
          </p>
        )}
        <p className="actions">
          <button
            type="submit"
            className={decision === 'resolve' ? '' : 'danger'}
            disabled={!isReady || decide.isPending}
          >
            {BUTTONS[decision]}
          </button>
          <button type="button" className="plain" onClick={onClose}>
            Cancel
          </button>
        </p>
      </form>
    </Dialog>
  );
}

const UUID = '[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';

function ConfirmedIds({ registration }: Pick<Props, 'registration'>) {
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
  decision: Decision,
  form: FormData,
) {
  const params = { path: { id } };
  const idIn = (name: string) => {
    const value = form.get(name);
    return typeof value === 'string' ? value.trim().toLowerCase() : '';
  };
  switch (decision) {
    case 'resolve': {
      const body: Schemas['ConfirmedUserInput'] = {
        id: idIn('user'),
        tenantReference,
        gridLocations: gridLocations.map(({ ean }) => ({ ean, id: idIn(ean) })),
      };
      return client.POST('/api/v1/registrations/{id}/resolve', { params, body });
    }
    case 'retry':
      return client.POST('/api/v1/registrations/{id}/retry', { params });
    case 'discard':
      return client.POST('/api/v1/registrations/{id}/discard', { params });
  }
}
