import type { Schemas } from '#client/client.js';
import type { paths } from '#client/openapi.js';
import { brandFilter, useBrands } from '../api/brands.js';
import { useList } from '../api/lists.js';
import { useStalled } from '../api/queries.js';
import { wordsOf } from '../format/words.js';
import { BulkAct } from '../parts/bulk.js';
import { replaceFilters } from '../parts/link.js';
import { List } from '../parts/list.js';
import { SessionLink } from '../parts/short-id.js';
import { Stall, State } from '../parts/state.js';
import { Age } from '../parts/time.js';
import type { Filters } from '../rules/route.js';

type State = Schemas['SessionView']['state'];
type Query = NonNullable<paths['/api/v1/onboarding/pv']['get']['parameters']['query']>;

const STATES: readonly State[] = [
  'awaiting_owner',
  'awaiting_installation',
  'online',
  'expired',
  'lost',
  'unrecognised',
];

export function SessionsPage({ filters }: { readonly filters: Filters }) {
  const state = STATES.find((each) => each === filters.state);
  const groups = useStalled().data?.filter(({ kind }) => kind === 'session') ?? [];
  const causes = new Map(groups.map(({ cause, title }) => [cause, title]));
  const brands = useBrands();
  const { stalled = '', brand } = filters;
  // A cause that no session has any more, or that has not been read yet.
  if (stalled !== '' && stalled !== 'any' && !causes.has(stalled)) causes.set(stalled, wordsOf(stalled));
  // The service refuses what is no cause, and names those that are.
  const list = useList('sessions', '/api/v1/onboarding/pv', {
    state,
    brand,
    ...(stalled !== '' && { stalled: stalled as NonNullable<Query['stalled']> }),
    limit: 50,
  });
  return (
    <>
      <h1>Sessions</h1>
      <List
        label="Sessions"
        list={list}
        unit="session"
        order="the longest unchanged first"
        keyOf={({ id }) => id}
        empty="No session matches the filters."
        filters={[
          {
            kind: 'choice',
            name: 'state',
            label: 'State',
            options: [['', 'any'], ...STATES.map((each) => [each, wordsOf(each)] as const)],
          },
          {
            kind: 'choice',
            name: 'stalled',
            label: 'Stalled',
            options: [['', 'all'], ['any', 'only stalled'], ...causes],
          },
          brandFilter(brands, brand),
        ]}
        values={filters}
        onFilter={(name, value) => replaceFilters('sessions', { ...filters, [name]: value })}
        acts={(selected, clear) => (
          <BulkAct
            label="Read now"
            operationId="refreshSession"
            on={selected.map(({ id, tenantReference }) => ({ id, name: tenantReference ?? id }))}
            unit="session"
            onDone={clear}
          />
        )}
        pageOf={({ id }) => ({ to: 'sessions', id })}
        columns={[
          { title: 'Session', of: ({ id }) => <SessionLink id={id} /> },
          {
            title: 'Customer',
            of: ({ tenantReference }) => tenantReference ?? <span className="soft">erased</span>,
          },
          {
            title: 'Brand',
            of: ({ brand: each }) =>
              each === null ? <span className="soft">none</span> : brands.nameOf(each),
          },
          { title: 'State', of: (session) => <State session={session} /> },
          {
            title: 'Stalled',
            of: ({ stalled: cause }) => <Stall stalled={cause} />,
            text: ({ stalled: cause }) => cause?.text ?? null,
            isText: true,
          },
          { title: 'Changed', of: ({ stateChangedAt }) => <Age at={stateChangedAt} /> },
          { title: 'Last read', of: ({ checkedAt }) => <Age at={checkedAt} /> },
          { title: 'Next read', of: ({ nextCheckAt }) => <Age at={nextCheckAt} none="not watched" /> },
        ]}
      />
    </>
  );
}
