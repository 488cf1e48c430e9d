import { TextInput } from '@mantine/core';
import type { Schemas } from '#client/client.js';
import { useBrands } from '../api/brands.js';
import { client, type Case, type Customer, type Session } from '../api/client.js';
import { countOf } from '../format/words.js';
import { Act, textIn } from './act.js';
import { write } from './copy.js';
import { InviteOwner } from './invitation-acts.js';
import { useMay } from './may.js';
import type { BrandNames } from '../rules/brands.js';
import { saveFile } from './save.js';

const CHANGES = ['customers', 'invitations', 'sessions', 'stalled', 'status', 'registrations'] as const;
const OVER: readonly string[] = ['online', 'expired', 'declined', 'revoked'];

/** The buttons of a grid location: invite its owner, begin the web flow anew. */
export function LocationActs({ of: location }: { readonly of: Case }) {
  const may = useMay();
  const brands = useBrands();
  const { gridLocationId, expected, invitations } = location;
  const mayInvite = may('onboarding:write') || may('invitations:write');
  // If the API itself proposes the invitation, its remedy is the button.
  const isInvited =
    invitations.some(({ state }) => !OVER.includes(state)) ||
    location.remedies.some(({ operationId }) => operationId === 'createInvitation');
  return (
    <span className="actions">
      {mayInvite && !isInvited && (
        <InviteOwner
          label="Invite the owner"
          gridLocationId={gridLocationId}
          brands={expected.brands}
          isMain={location.waitsFor !== 'nobody'}
        />
      )}
      {may('onboarding:write') && (
        <Act
          label={location.sessions.length === 0 ? 'Start a session' : 'Start again'}
          run={(form) => start(gridLocationId, form, brands)}
          done={({ startUrl }) => `A session is started.${startUrl ? ' Its link is copied.' : ''}`}
          page={({ id }) => ({ to: 'sessions', id })}
          onDone={(session) => session.startUrl && void write(session.startUrl)}
          changes={CHANGES}
          ask={
            <>
              <p>
                Starts a new session at the provider. The owner has to follow its link, and to authorise
                again.
              </p>
              <TextInput
                name="brand"
                label="Brand"
                defaultValue={brands.namesOf(expected.brands.slice(0, 1))}
              />
            </>
          }
        />
      )}
    </span>
  );
}

async function start(id: string, form: FormData, { idsIn }: BrandNames): Promise<Session> {
  const [brand] = idsIn(textIn(form, 'brand') ?? '');
  const body = { reuse: false, ...(brand !== undefined && { brand }) };
  return (await client.POST('/api/v1/onboarding/pv/{id}', { params: { path: { id } }, body })).data;
}

/** Registers a customer anew whose registration had no effect. */
export function RegisterAnew({ of: { registration, user } }: { readonly of: Customer }) {
  const may = useMay();
  const isOver = registration !== null && ['discarded', 'rejected'].includes(registration.status);
  if (!isOver || user !== null || !may('users:write')) return null;
  const { tenantReference, gridLocations, metadata } = registration;
  return (
    <Act
      label="Register anew"
      run={async () =>
        (
          await client.POST('/api/v1/users', {
            body: { tenantReference, gridLocations: gridLocations.map(({ ean }) => ({ ean })), metadata },
          })
        ).data
      }
      done={(result) =>
        'status' in result ? `The registration is ${result.status}.` : 'The customer is registered.'
      }
      page={({ id }) => ({ to: 'customers', id })}
      changes={CHANGES}
      ask={
        <p>
          Sends the same reference and EANs to the provider again:{' '}
          {gridLocations.map(({ ean }) => ean).join(', ')}.
        </p>
      }
    />
  );
}

/** Takes over a session that exists at the provider and not in our database. */
export function AdoptSession({ of: { user, tenantReference } }: { readonly of: Customer }) {
  const may = useMay();
  if (user === null || !may('users:write') || !may('registrations:decide')) return null;
  return (
    <Act
      label="Adopt a session"
      run={(form) => adopt(user, textIn(form, 'session') ?? '')}
      done="The session is read at the provider. The campaign has the result."
      page={({ id }) => ({ to: 'campaigns', id })}
      changes={[...CHANGES, 'campaigns']}
      ask={
        <>
          <p>
            Takes over a session of <strong>{tenantReference}</strong> that exists at the provider and not
            here. Nothing is created there.
          </p>
          <TextInput
            name="session"
            label="Session id"
            description="From the provider"
            pattern="[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
            title="An id such as 8bc432c7-fd1e-4d99-9dcb-2fbcb63255c5"
            required
          />
        </>
      }
    />
  );
}

async function adopt({ id, tenantReference, gridLocations }: Schemas['UserView'], sessionId: string) {
  const row = { tenantReference, user: { id, gridLocations }, sessions: [{ id: sessionId.toLowerCase() }] };
  const { data } = await client.POST('/api/v1/campaigns', {
    params: { query: { adopt: true, name: 'Adopted in the console' } },
    headers: { 'content-type': 'application/x-ndjson' },
    body: JSON.stringify(row),
    bodySerializer: (text: unknown) => text as string,
  });
  return data;
}

interface RefreshProps {
  readonly id: string;
  readonly label?: string;
  readonly isDisabled?: boolean;
}

/** Reads a session from the remote service at once. */
export const Refresh = ({ id, ...button }: RefreshProps) => (
  <Act
    label="Refresh"
    {...button}
    run={async () =>
      (
        await client.POST('/api/v1/onboarding/pv/{sessionId}/refresh', {
          params: { path: { sessionId: id } },
        })
      ).data
    }
    done={({ state }) => `It is read. Its state is ${state.replaceAll('_', ' ')}.`}
    page={{ to: 'sessions', id }}
    changes={['session', 'timeline', ...CHANGES]}
  />
);

/** Saves everything that is stored about a customer, for a request of access. */
export function ExportData({ of: { user } }: { readonly of: Customer }) {
  const may = useMay();
  if (user === null || !may('users:erase')) return null;
  return (
    <Act
      label="Export data"
      run={async () =>
        (await client.GET('/api/v1/users/{userId}/export', { params: { path: { userId: user.id } } })).data
      }
      done="What is stored about the customer is saved as a file."
      page={{ to: 'customers', id: user.id }}
      onDone={(document) =>
        saveFile(
          `personal-data-${user.id}.json`,
          'application/json',
          `${JSON.stringify(document, null, 2)}\n`,
        )
      }
      changes={['audit']}
      ask={
        <>
          <p>
            A file with everything that is stored here about this customer, to answer a request of access. It
            has no links and no secrets. The audit log says who saved it.
          </p>
          <p className="danger">It is personal: give it to the customer alone, and delete it.</p>
        </>
      }
    />
  );
}

/** Erases a customer, after a preview of what goes. Offers the receipt as a file. */
export function Erase({ of: customer }: { readonly of: Customer }) {
  const may = useMay();
  const { user, cases, tenantReference } = customer;
  if (user === null || !may('users:erase')) return null;
  const sessions = cases.reduce((sum, each) => sum + each.sessions.length, 0);
  const invitations = cases.reduce((sum, each) => sum + each.invitations.length, 0);
  return (
    <Act
      label="Erase"
      isDanger
      run={async () =>
        (await client.DELETE('/api/v1/users/{userId}', { params: { path: { userId: user.id } } })).data
      }
      done="The customer is erased. The receipt is saved as a file."
      page={may('admin') ? { to: 'audit', filters: { targets: user.id } } : null}
      onDone={(receipt) =>
        saveFile(`erasure-${receipt.id}.json`, 'application/json', `${JSON.stringify(receipt, null, 2)}\n`)
      }
      changes={[...CHANGES, 'audit']}
      ask={
        <>
          <p>
            Customer <strong>{tenantReference}</strong>
          </p>
          <p>
            These go: the reference, names, email and metadata, {countOf(cases.length, 'grid location')} with
            the EANs, {countOf(invitations, 'invitation')} and what was read of {countOf(sessions, 'session')}
            .
          </p>
          <p className="danger">
            This cannot be undone. The provider is not told: ask it to erase the customer, too.
          </p>
        </>
      }
    />
  );
}
