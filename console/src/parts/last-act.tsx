import type { Schemas } from '#client/client.js';
import { startingUpper, wordsOf } from '../format/words.js';
import { actionWords, actorWords } from '../rules/audit.js';
import { texts } from '../texts.js';
import { Link } from './link.js';
import { Age } from './time.js';

/** Says what a person did last, and leads to all that was done. */
export function LastAct({ of: [last] }: { readonly of: readonly Schemas['AuditEntryView'][] }) {
  if (last === undefined || last.target === null) return null;
  const { outcome = last.details.status } = last.details;
  return (
    <>
      {' '}
      {texts.stall.lastAct(
        <Link to="audit" filters={{ targets: last.target }}>
          {startingUpper(actionWords(last.action))}
        </Link>,
        actorWords(last),
        <Age at={last.at} />,
        typeof outcome === 'string' ? wordsOf(outcome) : null,
      )}
    </>
  );
}
