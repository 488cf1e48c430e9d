import { useStuck } from '../../api/queries.js';
import { countOf, formatNumber } from '../../format/words.js';
import { useNow } from '../../parts/clock.js';
import { Link } from '../../parts/link.js';
import { Empty, Loaded } from '../../parts/loaded.js';
import { Badge, Panel } from '../../parts/panel.js';
import { Age } from '../../parts/time.js';
import { WhatToDo } from '../../parts/what-to-do.js';
import { needsOf, type Need } from '../../rules/needs.js';

const MOST_NEEDS = 6;

/** What needs a person, by its reason, each with its next call. */
export function NeedsPanel() {
  const stuck = useStuck();
  const now = useNow();
  return (
    <Panel title="Needs a person" isWide more={<Link to="stuck">All of it</Link>}>
      <Loaded query={stuck}>
        {({ items, isComplete }) => {
          const needs = needsOf(items, now);
          if (needs.length === 0) return <Empty>Nothing waits for a person.</Empty>;
          return (
            <>
              <p className="soft">
                {isComplete
                  ? countOf(items.length, 'item')
                  : `The oldest ${formatNumber(items.length)} items`}{' '}
                in {countOf(needs.length, 'group')}. New is what began within 24 hours.
              </p>
              <ul className="needs">
                {needs.slice(0, MOST_NEEDS).map((need) => (
                  <Group key={`${need.kind} ${need.reason}`} need={need} />
                ))}
              </ul>
              {needs.length > MOST_NEEDS && (
                <p className="more">
                  <Link to="stuck">{countOf(needs.length - MOST_NEEDS, 'more group')}</Link>
                </p>
              )}
            </>
          );
        }}
      </Loaded>
    </Panel>
  );
}

function Group({ need: { kind, reason, items, fresh, oldest } }: { readonly need: Need }) {
  const [first] = items;
  if (first === undefined) return null;
  const text = `${countOf(items.length, kind)}: ${reason}`;
  return (
    <li>
      <p>
        {fresh > 0 && <Badge tone="attention">{`${formatNumber(fresh)} new`}</Badge>}{' '}
        {kind === 'registration' ? (
          <Link to="registrations">{text}</Link>
        ) : kind === 'session' && items.length === 1 ? (
          <Link to="sessions" id={first.id}>
            {text}
          </Link>
        ) : (
          <Link to="stuck">{text}</Link>
        )}{' '}
        <span className="soft">
          the oldest <Age at={oldest} />
        </span>
      </p>
      <p className="soft">
        Next: <WhatToDo text={first.whatToDo} />
      </p>
    </li>
  );
}
