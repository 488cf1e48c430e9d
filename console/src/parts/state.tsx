import type { Session } from '../api/client.js';
import { wordsOf } from '../format/words.js';
import { For } from './time.js';
import { Badge, type Tone } from './panel.js';

const TONES: Readonly<Record<Session['state'], Tone>> = {
  awaiting_owner: 'quiet',
  awaiting_installation: 'quiet',
  online: 'well',
  expired: 'unknown',
  lost: 'attention',
  unrecognised: 'attention',
};

export const STALL_CAUSES = {
  started_not_completed: 'The owner has not finished the web flow',
  completed_not_online: 'The owner is done, and the installation is late',
  expiring_soon: 'It expires soon, and the owner has not finished',
  remote_unreachable: 'The remote service has not returned it',
  unrecognised: 'Its flags are not described by the interface',
};

export const stallTitle = (cause: string): string | undefined =>
  (STALL_CAUSES as Readonly<Record<string, string | undefined>>)[cause];

export const DOUBTS = {
  unrecognised: 'The interface does not describe their flags',
  lost: 'The remote service no longer knows them',
  all_inverters_missing: 'Online, all inverters missing',
  some_inverters_missing: 'Online, some inverters missing',
} as const;

export function State({ session: { state, basis } }: { readonly session: Pick<Session, 'state' | 'basis'> }) {
  return (
    <Badge tone={TONES[state]}>
      {wordsOf(state)}
      {basis === 'inferred' && <em> (inferred)</em>}
    </Badge>
  );
}

export function Stall({ stalled }: Pick<Session, 'stalled'>) {
  if (stalled === null) return null;
  return (
    <span>
      {stallTitle(stalled.cause) ?? stalled.text.replace(/\.$/, '')}, <For at={stalled.since} />
    </span>
  );
}
