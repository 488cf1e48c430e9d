import type { Schemas } from '#client/client.js';
import type { Session, Stalled } from '../api/client.js';
import { wordsOf } from '../format/words.js';
import { texts } from '../texts.js';
import { Badge, type Tone } from './panel.js';
import { Sentence } from './sentence.js';
import { For } from './time.js';

const TONES: Readonly<Record<Session['state'], Tone>> = {
  awaiting_owner: 'quiet',
  awaiting_installation: 'quiet',
  online: 'well',
  expired: 'ended',
  lost: 'attention',
  unrecognised: 'attention',
};

const URGENCIES: Readonly<Record<Stalled['urgency'], Tone>> = {
  now: 'attention',
  soon: 'soon',
  later: 'quiet',
};

export const Urgency = ({ of }: { readonly of: Stalled['urgency'] }) => (
  <Badge tone={URGENCIES[of]}>{texts.urgencies[of]}</Badge>
);

type InvitationStates = Schemas['InvitationView']['state'];

export const INVITATION_STATES: Readonly<Record<InvitationStates, Tone>> = {
  invited: 'quiet',
  opened: 'quiet',
  started: 'quiet',
  owner_done: 'quiet',
  online: 'well',
  expired: 'ended',
  declined: 'ended',
  revoked: 'ended',
};

export const InvitationState = ({ of }: { readonly of: InvitationStates }) => (
  <Badge tone={INVITATION_STATES[of]}>{wordsOf(of)}</Badge>
);

export function State({ session: { state, basis } }: { readonly session: Pick<Session, 'state' | 'basis'> }) {
  return (
    <Badge tone={TONES[state]}>
      {wordsOf(state)}
      {basis === 'inferred' && <em>{texts.values.inferred}</em>}
    </Badge>
  );
}

/** Shows why a session is stalled, and for how long. */
export function Stall({ stalled }: Pick<Session, 'stalled'>) {
  if (stalled === null) return null;
  return (
    <span>
      <Sentence text={stalled.text} />{' '}
      <span className="soft">
        (<For at={stalled.since} />)
      </span>
    </span>
  );
}
