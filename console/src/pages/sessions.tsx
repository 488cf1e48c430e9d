import type { Schemas } from '#client/client.js';
import { useList } from '../api/lists.js';
import { wordsOf } from '../format/words.js';
import { Link, replacePath } from '../parts/link.js';
import { List } from '../parts/list.js';
import { ShortId } from '../parts/short-id.js';
import { STALL_CAUSES, Stall, State } from '../parts/state.js';
import { Age } from '../parts/time.js';
import { pathOf } from '../rules/route.js';

type State = Schemas['SessionView']['state'];
type Cause = keyof typeof STALL_CAUSES;

const STATES: readonly State[] = [
  'awaiting_owner',
  'awaiting_installation',
  'online',
  'expired',
  'lost',
  'unrecognised',
];

interface Props {
  readonly filters: Readonly<Record<string, string>>;
}

export function SessionsPage({ filters }: Props) {
  const state = STATES.find((each) => each === filters.state);
  const stalled = (['any', ...Object.keys(STALL_CAUSES)] as ('any' | Cause)[]).find(
    (each) => each === filters.stalled,
  );
  const list = useList('sessions', '/api/v1/onboarding/pv', { state, stalled, limit: 50 });
  const filter = (name: string, value: string) => {
    const { [name]: _, ...others } = filters;
    replacePath(pathOf('sessions', undefined, value === '' ? others : { ...others, [name]: value }));
  };
  return (
    <>
      <h1>Sessions</h1>
      <form className="filters" onSubmit={(event) => event.preventDefault()}>
        <label>
          State
          <select value={state ?? ''} onChange={(event) => filter('state', event.target.value)}>
            <option value="">any</option>
            {STATES.map((each) => (
              <option key={each} value={each}>
                {wordsOf(each)}
              </option>
            ))}
          </select>
        </label>
        <label>
          Stalled
          <select value={stalled ?? ''} onChange={(event) => filter('stalled', event.target.value)}>
            <option value="">whether or not</option>
            <option value="any">for any cause</option>
            {Object.entries(STALL_CAUSES).map(([cause, words]) => (
              <option key={cause} value={cause}>
                {words}
              </option>
            ))}
          </select>
        </label>
      </form>
      <p className="soft">The longest unchanged first.</p>
      <List
        label="Sessions"
        list={list}
        unit="session"
        keyOf={({ id }) => id}
        empty="No session is like this."
        columns={[
          {
            title: 'Session',
            of: ({ id }) => (
              <Link to="sessions" id={id}>
                <ShortId of={id} />
              </Link>
            ),
          },
          {
            title: 'Customer',
            of: ({ tenantReference }) => tenantReference ?? <span className="soft">erased</span>,
          },
          { title: 'Brand', of: ({ brand }) => brand ?? <span className="soft">none</span> },
          { title: 'State', of: (session) => <State session={session} /> },
          { title: 'Stalled', of: ({ stalled: cause }) => <Stall stalled={cause} /> },
          { title: 'Changed', of: ({ stateChangedAt }) => <Age at={stateChangedAt} /> },
          { title: 'Last read', of: ({ checkedAt }) => <Age at={checkedAt} /> },
          { title: 'Next read', of: ({ nextCheckAt }) => <Age at={nextCheckAt} none="not watched" /> },
        ]}
      />
    </>
  );
}
