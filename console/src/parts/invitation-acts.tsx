import { Button, NativeSelect, TextInput } from '@mantine/core';
import type { Schemas } from '#client/client.js';
import { useBrands } from '../api/brands.js';
import { client } from '../api/client.js';
import type { BrandNames } from '../rules/brands.js';
import type { Subject } from '../rules/invalidation.js';
import { texts } from '../texts.js';
import { Act, textIn } from './act.js';
import { BulkAct } from './bulk.js';
import { copy } from './copy.js';
import { useMay } from './may.js';
import { tellFailed } from './notify.js';

type Invitation = Schemas['InvitationView'];
type Kept = 'id' | 'state' | 'startedAt' | 'consentWithdrawnAt';
type Shown = Pick<Invitation, Kept | 'brands' | 'locale' | 'expiresAt'>;

const OVER: readonly Invitation['state'][] = ['online', 'declined', 'revoked'];
const CHANGES: readonly Subject[] = ['invitations', 'customers', 'stalled'];
const DAY_MS = 86_400_000;
/** By how much a person usually prolongs an invitation. */
const LONGER_DAYS = 30;

const LANGUAGES = Object.entries(texts.invitations.languages).map(([value, label]) => ({ value, label }));

const useMayInvite = (): boolean => {
  const may = useMay();
  return may('onboarding:write') || may('invitations:write');
};

/** The buttons of an invitation: copy its link, remind its owner, prolong or change it, revoke it, withdraw the consent. */
export function InvitationActs({ of }: { readonly of: Shown }) {
  // The click that led to a session was a consent. It stands also after the end of the invitation.
  const mayWithdraw = useMayInvite() && of.startedAt !== null && of.consentWithdrawnAt === null;
  return (
    <span className="actions">
      <ActsBeforeItsEnd of={of} />
      {mayWithdraw && (
        <Act
          label={texts.invitations.withdraw}
          isDanger
          run={() => client.POST('/api/v1/invitations/{id}/withdrawal', { params: { path: { id: of.id } } })}
          done={texts.invitations.withdrawn}
          page={{ to: 'invitations', id: of.id }}
          changes={CHANGES}
          ask={<p className="danger">{texts.invitations.withdrawWarning}</p>}
        />
      )}
    </span>
  );
}

function ActsBeforeItsEnd({
  of: { id, state, startedAt: _startedAt, consentWithdrawnAt: _withdrawnAt, ...invitation },
}: {
  readonly of: Shown;
}) {
  const may = useMay();
  const mayInvite = useMayInvite();
  const brands = useBrands();
  const isExpired = state === 'expired';
  if (OVER.includes(state)) return null;
  const params = { path: { id } };
  const page = { to: 'invitations', id } as const;
  return (
    <>
      {!isExpired && (may('links:read') || may('invitations:write')) && (
        <Button onClick={() => void copyLink(id)}>{texts.buttons.copyTheLink}</Button>
      )}
      {mayInvite && !isExpired && state !== 'owner_done' && (
        <Act
          label={texts.buttons.remindNow}
          run={() => client.POST('/api/v1/invitations/{id}/reminders', { params })}
          done={texts.invitations.reminded}
          page={page}
          changes={CHANGES}
        />
      )}
      {mayInvite && (
        <Act
          label={isExpired ? texts.buttons.prolong : texts.buttons.change}
          run={(form) =>
            client.PATCH('/api/v1/invitations/{id}', {
              params,
              body: changeIn(form, invitation, isExpired, brands),
            })
          }
          done={texts.invitations.changed}
          page={page}
          changes={CHANGES}
          ask={<ChangeFields of={invitation} isExpired={isExpired} brands={brands} />}
        />
      )}
      {mayInvite && !isExpired && (
        <Act
          label={texts.buttons.revoke}
          isDanger
          run={() => client.DELETE('/api/v1/invitations/{id}', { params })}
          done={texts.invitations.revoked}
          page={page}
          changes={CHANGES}
          ask={<p className="danger">{texts.invitations.revokeWarning}</p>}
        />
      )}
    </>
  );
}

const dayOf = (at: Date | string): string => new Date(at).toISOString().slice(0, 10);
const proposedDay = (): string => dayOf(new Date(Date.now() + LONGER_DAYS * DAY_MS));
/** The end of a day in UTC. */
const endOf = (day: string): string => `${day}T23:59:59Z`;

const Until = ({ day, min }: { readonly day: string; readonly min?: string }) => (
  <TextInput
    name="until"
    type="date"
    label={texts.invitations.validUntil}
    defaultValue={day}
    min={min}
    required
  />
);

type Changed = Omit<Shown, Kept>;

interface ChangeProps {
  readonly of: Changed;
  readonly isExpired: boolean;
  readonly brands: BrandNames;
}

const ChangeFields = ({ of, isExpired, brands }: ChangeProps) => (
  <>
    <p>{texts.invitations.linkStays}</p>
    <Until day={isExpired ? proposedDay() : dayOf(of.expiresAt)} />
    <NativeSelect
      name="locale"
      label={texts.titles.language}
      data={LANGUAGES}
      defaultValue={of.locale ?? ''}
    />
    <BrandsField brands={brands} of={of.brands} />
  </>
);

/** Returns what a person has changed. A new brand drops the wish of the owner for another, so equal brands are left out. */
function changeIn(
  form: FormData,
  before: Changed,
  isExpired: boolean,
  names: BrandNames,
): Schemas['InvitationChange'] {
  const day = textIn(form, 'until') ?? '';
  const locale = (textIn(form, 'locale') ?? null) as Invitation['locale'];
  const brands = brandsIn(form, names);
  return {
    ...((isExpired || day !== dayOf(before.expiresAt)) && { expiresAt: endOf(day) }),
    ...(locale !== before.locale && { locale }),
    ...(brands.join() !== before.brands.join() && { brands }),
  };
}

interface BrandsFieldProps {
  readonly brands: BrandNames;
  readonly of: readonly string[];
}

/** A field for the brands that an owner may connect, by their names. */
const BrandsField = ({ brands, of }: BrandsFieldProps) => (
  <TextInput
    name="brands"
    label={texts.titles.brands}
    description={texts.invitations.brandsHint}
    defaultValue={brands.namesOf(of)}
  />
);

const brandsIn = (form: FormData, { idsIn }: BrandNames): string[] => idsIn(textIn(form, 'brands') ?? '');

interface InviteProps {
  readonly label: string;
  readonly gridLocationId: string;
  /** The brands that the form proposes. */
  readonly brands?: readonly string[];
  readonly isMain?: boolean;
}

/** A button that asks for brands and language, and creates an invitation for the owner of a grid location. */
export function InviteOwner({ label, gridLocationId, brands: proposed = [], isMain = false }: InviteProps) {
  const brands = useBrands();
  return (
    <Act
      label={label}
      isMain={isMain}
      run={(form) => invite(gridLocationId, form, brands)}
      done={texts.invitations.created}
      page={({ id }) => ({ to: 'invitations', id })}
      onDone={({ url }) => url !== null && void copy(url, texts.invitations.linkCopied)}
      changes={[...CHANGES, 'status']}
      ask={
        <>
          <p>{texts.invitations.createConsequence}</p>
          <BrandsField brands={brands} of={proposed} />
          <NativeSelect name="locale" label={texts.titles.language} data={LANGUAGES} />
        </>
      }
    />
  );
}

async function invite(gridLocationId: string, form: FormData, brands: BrandNames): Promise<Invitation> {
  const locale = textIn(form, 'locale') as Schemas['NewInvitation']['locale'];
  const body = { gridLocationId, brands: brandsIn(form, brands), ...(locale !== undefined && { locale }) };
  return (await client.POST('/api/v1/invitations', { body })).data;
}

interface ManyProps {
  readonly of: readonly Invitation[];
  readonly onDone: () => void;
}

/** What a person may do with many invitations at once. */
export function ManyInvitationActs({ of: selected, onDone }: ManyProps) {
  const on = selected.map(({ id, tenantReference }) => ({ id, name: tenantReference }));
  // An earlier date than the last of them would shorten one.
  const last = selected.map(({ expiresAt }) => dayOf(expiresAt)).reduce((a, b) => (a > b ? a : b), '');
  const proposed = proposedDay();
  return (
    <>
      <BulkAct
        label={texts.buttons.remindNow}
        operationId="remindOwner"
        on={on}
        count={texts.counts.invitation}
        note={texts.invitations.noReminderWithinHour}
        onDone={onDone}
      />
      <BulkAct
        label={texts.buttons.prolong}
        operationId="changeInvitation"
        on={on}
        count={texts.counts.invitation}
        fields={<Until day={last > proposed ? last : proposed} min={last} />}
        bodyOf={(form) => ({ expiresAt: endOf(textIn(form, 'until') ?? '') })}
        onDone={onDone}
      />
      <BulkAct
        label={texts.buttons.revoke}
        operationId="revokeInvitation"
        on={on}
        count={texts.counts.invitation}
        danger={texts.invitations.revokeManyWarning}
        onDone={onDone}
      />
    </>
  );
}

export async function copyLink(id: string): Promise<void> {
  try {
    const { data } = await client.POST('/api/v1/invitations/{id}/link', { params: { path: { id } } });
    await copy(data.url, texts.invitations.linkCopied, { to: 'invitations', id });
  } catch (error) {
    tellFailed(error);
  }
}
