import { TextInput } from '@mantine/core';
import type { Schemas } from '#client/client.js';
import { useBrands } from '../api/brands.js';
import { client, once, type Case, type Customer, type Session } from '../api/client.js';
import { Act, textIn } from './act.js';
import { copy } from './copy.js';
import { InviteOwner } from './invitation-acts.js';
import { useMay } from './may.js';
import type { BrandNames } from '../rules/brands.js';
import { wordsOf } from '../format/words.js';
import { texts } from '../texts.js';
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
          label={texts.customer.inviteOwner}
          gridLocationId={gridLocationId}
          brands={expected.brands}
          isMain={location.waitsFor !== 'nobody'}
        />
      )}
      {may('onboarding:write') && (
        <Act
          label={location.sessions.length === 0 ? texts.customer.startSession : texts.customer.startAgain}
          run={(form) => start(gridLocationId, form, brands)}
          done={texts.customer.sessionStarted}
          page={({ id }) => ({ to: 'sessions', id })}
          onDone={({ startUrl }) => startUrl && void copy(startUrl, texts.customer.linkCopied)}
          changes={CHANGES}
          ask={
            <>
              <p>{texts.customer.startConsequence}</p>
              <TextInput
                name="brand"
                label={texts.titles.brand}
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
  return once({ id, ...body }, (header) =>
    client.POST('/api/v1/onboarding/pv/{id}', { params: { path: { id }, header }, body }),
  );
}

/** Registers a customer anew whose registration had no effect. */
export function RegisterAnew({ of: { registration, user } }: { readonly of: Customer }) {
  const may = useMay();
  const isOver = registration !== null && ['discarded', 'rejected'].includes(registration.status);
  if (!isOver || user !== null || !may('users:write')) return null;
  const { tenantReference, gridLocations, metadata } = registration;
  return (
    <Act
      label={texts.customer.registerAnew}
      run={async () =>
        (
          await client.POST('/api/v1/users', {
            body: { tenantReference, gridLocations: gridLocations.map(({ ean }) => ({ ean })), metadata },
          })
        ).data
      }
      done={(result) =>
        'status' in result ? texts.customer.registrationIs(result.status) : texts.customer.isRegistered
      }
      page={({ id }) => ({ to: 'customers', id })}
      changes={CHANGES}
      ask={<p>{texts.customer.sendsAgain(gridLocations.map(({ ean }) => ean))}</p>}
    />
  );
}

/** Takes over a session that exists at the provider and not in our database. */
export function AdoptSession({ of: { user, tenantReference } }: { readonly of: Customer }) {
  const may = useMay();
  if (user === null || !may('users:write') || !may('registrations:decide')) return null;
  return (
    <Act
      label={texts.customer.adopt}
      run={(form) => adopt(user, textIn(form, 'session') ?? '')}
      done={texts.customer.adopted}
      page={({ id }) => ({ to: 'campaigns', id })}
      changes={[...CHANGES, 'campaigns']}
      ask={
        <>
          <p>{texts.customer.adoptConsequence(tenantReference)}</p>
          <TextInput
            name="session"
            label={texts.titles.sessionId}
            description={texts.customer.fromProvider}
            pattern="[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
            title={texts.customer.idPattern}
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
    params: { query: { adopt: true, name: texts.customer.adoptedCampaign } },
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
    label={texts.buttons.refresh}
    {...button}
    run={async () =>
      (
        await client.POST('/api/v1/onboarding/pv/{sessionId}/refresh', {
          params: { path: { sessionId: id } },
        })
      ).data
    }
    done={({ state }) => texts.customer.isRead(wordsOf(state))}
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
      label={texts.buttons.exportData}
      run={async () =>
        (await client.GET('/api/v1/users/{userId}/export', { params: { path: { userId: user.id } } })).data
      }
      done={texts.customer.exported}
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
          <p>{texts.customer.exportContent}</p>
          <p className="danger">{texts.customer.exportWarning}</p>
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
      label={texts.buttons.erase}
      isDanger
      run={async () =>
        (await client.DELETE('/api/v1/users/{userId}', { params: { path: { userId: user.id } } })).data
      }
      done={texts.customer.erased}
      page={may('admin') ? { to: 'audit', filters: { targets: user.id } } : null}
      onDone={(receipt) =>
        saveFile(`erasure-${receipt.id}.json`, 'application/json', `${JSON.stringify(receipt, null, 2)}\n`)
      }
      changes={[...CHANGES, 'audit']}
      ask={
        <>
          <p>{texts.customer.named(tenantReference)}</p>
          <p>{texts.customer.erasedParts(cases.length, invitations, sessions)}</p>
          <p className="danger">{texts.customer.eraseWarning}</p>
        </>
      }
    />
  );
}
