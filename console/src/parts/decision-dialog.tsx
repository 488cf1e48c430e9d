import { Checkbox, Textarea, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { client, type Registration } from '../api/client.js';
import { readAgain } from '../api/queries.js';
import { idFault, isComplete, readPasted, type ConfirmedIds } from '../rules/confirmed-user.js';
import { texts } from '../texts.js';
import { Dialog } from './dialog.js';
import { Failure } from './loaded.js';
import { tellDone, tellFailed } from './notify.js';

const WORDS = {
  resolve: {
    title: texts.registrations.exists,
    button: texts.registrations.enterUser,
    operation: 'resolveRegistration',
    done: texts.registrations.entered,
  },
  retry: {
    title: texts.registrations.sendAgain,
    button: texts.buttons.sendAgain,
    operation: 'retryRegistration',
    done: texts.registrations.sentAgain,
  },
  discard: {
    title: texts.registrations.giveUp,
    button: texts.buttons.giveUp,
    operation: 'discardRegistration',
    done: texts.registrations.givenUp,
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
  const dialog = useRef<HTMLFormElement>(null);
  const decide = useMutation({
    mutationFn: () => send(registration, decision, ids),
    onSuccess: () => {
      tellDone(texts.registrations.decided(tenantReference, done), { to: 'customers', id: registration.id });
      onClose();
    },
    onError: (error) => dialog.current === null && tellFailed(error),
    onSettled: readAgain(['registrations', 'status', 'stalled']),
  });
  const isReady = decision === 'resolve' ? isComplete(ids) : decision === 'discard' || isConfirmed;
  const remedy = stalled?.remedies.find(({ operationId }) => operationId === operation);
  return (
    <Dialog
      ref={dialog}
      title={remedy?.label ?? title}
      button={button}
      isDanger={decision !== 'resolve'}
      isDisabled={!isReady || decide.isPending}
      isWide={decision === 'resolve'}
      onSubmit={() => decide.mutate()}
      onClose={onClose}
    >
      <p>{texts.customer.named(tenantReference)}</p>
      {decision === 'resolve' && <ConfirmedUser of={registration} ids={ids} onChange={setIds} />}
      {decision === 'retry' && (
        <>
          <p className="danger">{texts.registrations.sendAgainWarning}</p>
          <Checkbox
            label={texts.registrations.isConfirmed}
            checked={isConfirmed}
            onChange={(event) => setConfirmed(event.currentTarget.checked)}
          />
        </>
      )}
      {decision === 'discard' && <p>{texts.registrations.giveUpConsequence}</p>}
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
        label={texts.registrations.confirmedUser}
        description={texts.registrations.confirmedUserHint}
        rows={4}
        spellCheck={false}
        value={text}
        error={text !== '' && 'fault' in read ? read.fault : null}
        onChange={(event) => paste(event.currentTarget.value)}
      />
      {field('user', texts.titles.userId, ids.user, (user) => ({ ...ids, user }))}
      {registration.gridLocations.map(({ ean }) =>
        field(ean, texts.registrations.locationId(ean), ids.locations[ean] ?? '', (id) => ({
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
