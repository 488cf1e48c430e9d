import { Button } from '@mantine/core';
import type { Schemas } from '#client/client.js';
import { client } from '../api/client.js';
import { Act } from './act.js';
import { copy } from './copy.js';
import { useMay } from './may.js';
import { tellFailed } from './notify.js';

const OVER: readonly string[] = ['online', 'expired', 'revoked'];

/** The buttons of an invitation: copy its link, revoke it. */
export function InvitationActs({
  of: { id, state },
}: {
  readonly of: Pick<Schemas['InvitationView'], 'id' | 'state'>;
}) {
  const may = useMay();
  if (OVER.includes(state)) return null;
  return (
    <span className="actions">
      {may('links:read') && <Button onClick={() => void copyLink(id)}>Copy the link</Button>}
      {(may('onboarding:write') || may('invitations:write')) && (
        <Act
          label="Revoke"
          isDanger
          run={() => client.DELETE('/api/v1/invitations/{id}', { params: { path: { id } } })}
          done="The invitation is revoked."
          changes={['invitations', 'customers', 'stalled']}
          ask={
            <p className="danger">
              Its link stops working, also in mails that were sent. A new one has to be sent.
            </p>
          }
        />
      )}
    </span>
  );
}

async function copyLink(id: string): Promise<void> {
  try {
    const { data } = await client.GET('/api/v1/invitations/{id}', { params: { path: { id } } });
    if (data.url !== null) await copy(data.url);
  } catch (error) {
    tellFailed(error);
  }
}
