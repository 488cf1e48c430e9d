import { Alert, Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useRef, useState, type ReactNode } from 'react';
import { callRemedy, type Remedy, type Stalled } from '../api/client.js';
import { readAgain } from '../api/queries.js';
import { changedBy } from '../rules/invalidation.js';
import { idIn, outcomeOf, pageOfRemedy, wayOf, type Target } from '../rules/stalled.js';
import { texts } from '../texts.js';
import { Dialog } from './dialog.js';
import { copyLink, InviteOwner } from './invitation-acts.js';
import { Link } from './link.js';
import { Failure } from './loaded.js';
import { useMay } from './may.js';
import { tellDone, tellFailed } from './notify.js';
import { Sentence } from './sentence.js';
import { For } from './time.js';

/** Shows why something is stalled, who is waited for, and what a person can do. */
export function StalledNotice({
  of: stalled,
  page,
  children,
}: {
  readonly of: Stalled;
  readonly page: Target | null;
  readonly children?: ReactNode;
}) {
  return (
    <Alert color="yellow" className="notice">
      <p>
        {texts.stall.notice(
          <Sentence text={stalled.text} />,
          texts.waits[stalled.waitsFor],
          <For at={stalled.since} />,
        )}
      </p>
      {stalled.before !== null && <p>{texts.stall.first(<Sentence text={stalled.before} />)}</p>}
      <Remedies of={stalled} page={page} />
      {children}
    </Alert>
  );
}

interface Props {
  readonly of: Pick<Stalled, 'before' | 'remedies'>;
  /** The page on which a person can write the body of a remedy; null if there is none. */
  readonly page: Target | null;
}

/** Shows the remedies that a person may apply. Asks before what cannot be undone. */
export function Remedies({ of: { before, remedies }, page }: Props) {
  const may = useMay();
  const [asked, setAsked] = useState<Remedy | null>(null);
  /** Null if what they are of is no longer shown. */
  const place = useRef<HTMLSpanElement>(null);
  const apply = useMutation({
    mutationFn: async (remedy: Remedy) => outcomeOf(await callRemedy(remedy)),
    onSuccess: ({ isDone, sentence }, remedy) => {
      setAsked(null);
      if (isDone) tellDone(sentence, pageOfRemedy(remedy));
    },
    onError: (error) => place.current === null && tellFailed(error),
    onSettled: readAgain(changedBy('pv.stall.cleared.v1')),
  });
  const isDone = ({ operationId }: Remedy) =>
    apply.data?.isDone === true && apply.variables?.operationId === operationId;
  return (
    <>
      <span ref={place} className="actions remedies">
        {remedies.map((remedy) => {
          const { operationId, label, confirm } = remedy;
          const way = wayOf(remedy, may);
          if (way === 'page' && page !== null)
            return (
              <Link key={operationId} {...page}>
                {label}
              </Link>
            );
          if (way === 'invite')
            return (
              <InviteOwner
                key={operationId}
                label={label}
                gridLocationId={String(remedy.body?.gridLocationId)}
              />
            );
          if (way === 'copy')
            return (
              <Button key={operationId} onClick={() => void copyLink(idIn(remedy))}>
                {texts.buttons.copyTheLink}
              </Button>
            );
          if (way !== 'call') return null;
          return (
            <Button
              key={operationId}
              variant={confirm === null ? 'default' : 'light'}
              color={confirm === null ? undefined : 'red'}
              disabled={apply.isPending || isDone(remedy)}
              onClick={() => (confirm === null ? apply.mutate(remedy) : (apply.reset(), setAsked(remedy)))}
            >
              {label}
            </Button>
          );
        })}
      </span>
      {asked === null ? (
        <Failure of={apply.error} />
      ) : (
        <Dialog
          title={asked.label}
          button={asked.label}
          isDanger
          isDisabled={apply.isPending}
          onSubmit={() => apply.mutate(asked)}
          onClose={() => setAsked(null)}
        >
          {before !== null && <p>{texts.stall.first(<Sentence text={before} />)}</p>}
          <p className="danger">{asked.confirm}</p>
          <Failure of={apply.error} />
        </Dialog>
      )}
      {apply.data?.isDone === false && (
        <p className="failure" role="status">
          {apply.data.sentence}
        </p>
      )}
    </>
  );
}
