import type { Schemas } from '#client/client.js';
import type { StalledGroup } from '../../api/client.js';
import { useActs, useStalled } from '../../api/queries.js';
import { BulkRemedies } from '../../parts/bulk.js';
import { LastAct } from '../../parts/last-act.js';
import { Link } from '../../parts/link.js';
import { Empty, Loaded } from '../../parts/loaded.js';
import { useMay } from '../../parts/may.js';
import { Badge, Panel } from '../../parts/panel.js';
import { Remedies } from '../../parts/remedies.js';
import { Sentence } from '../../parts/sentence.js';
import { For } from '../../parts/time.js';
import { nextOf, pageAbout } from '../../rules/stalled.js';
import { actsOn, triesOf } from '../../rules/tried.js';
import { texts } from '../../texts.js';

/** With more, the page would not fit on one screen beside three incidents. */
const MOST_NEEDS = 4;

/** Shows the cases that need a person, grouped by their cause, with the next step. */
export function NeedsPanel() {
  const stalled = useStalled();
  const may = useMay();
  const shown = (stalled.data ?? []).slice(0, MOST_NEEDS);
  const targets = shown.flatMap(({ oldest }) => oldest.map(({ id }) => id)).join();
  const acts = useActs(targets === '' || !may('admin') ? null : { targets });
  return (
    <Panel title={texts.needs.title} isWide more={<Total of={stalled.data ?? []} />}>
      <Loaded query={stalled}>
        {() =>
          shown.length === 0 ? (
            <Empty>{texts.needs.nobodyNeeded}</Empty>
          ) : (
            <ul className="needs">
              {shown.map((group) => (
                <Group
                  key={`${group.kind} ${group.cause}`}
                  group={group}
                  acts={actsOn(group.oldest, acts.data ?? [])}
                />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Panel>
  );
}

/** Shows how many there are, and leads to all. */
const Total = ({ of: groups }: { readonly of: readonly StalledGroup[] }) => (
  <span>
    <span className="soft">
      {texts.needs.total(
        groups.reduce((sum, { count }) => sum + count, 0),
        groups.length,
      )}
    </span>{' '}
    <Link to="stalled">{texts.buttons.showAll}</Link>
  </span>
);

interface GroupProps {
  readonly group: StalledGroup;
  /** What people did about these, the newest first. */
  readonly acts: readonly Schemas['AuditEntryView'][];
}

function Group({ group, acts }: GroupProps) {
  const { kind, cause, title, waitsFor, count, new: fresh, oldest } = group;
  const [first] = oldest;
  if (first === undefined) return null;
  const tries = triesOf(first);
  const filters = { kind, cause };
  const text = texts.needs.group(texts.counts[kind](count), title);
  return (
    <li className="need">
      <div>
        <p>
          {fresh > 0 && <Badge tone="attention">{texts.needs.new(fresh)}</Badge>}{' '}
          {kind === 'session' && count === 1 ? (
            <Link to="sessions" id={first.id}>
              {text}
            </Link>
          ) : (
            <Link to="stalled" filters={filters}>
              {text}
            </Link>
          )}
        </p>
        <p className="soft">
          {texts.needs.facts(
            texts.waits[waitsFor],
            count > 1,
            <For at={first.since} />,
            tries && <Sentence text={tries} />,
          )}
          <LastAct of={acts} /> {texts.stall.next(<Sentence text={nextOf(first)} />)}
        </p>
      </div>
      <span className="actions">
        {count === 1 ? (
          <Remedies of={first} page={pageAbout(first)} />
        ) : count === oldest.length ? (
          <BulkRemedies of={oldest} onDone={() => {}} label={(each) => texts.needs.forAll(each, count)} />
        ) : (
          <Link to="stalled" filters={filters}>
            {texts.needs.chooseAmong(count)}
          </Link>
        )}
      </span>
    </li>
  );
}
