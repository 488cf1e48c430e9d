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
import { texts } from '../texts.js';

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
      <h1>{texts.pages.sessions}</h1>
      <List
        label={texts.pages.sessions}
        list={list}
        count={texts.counts.session}
        order={texts.orders.longestUnchangedFirst}
        keyOf={({ id }) => id}
        empty={texts.sessions.noneMatches}
        filters={[
          {
            kind: 'choice',
            name: 'state',
            label: texts.titles.state,
            options: [['', texts.values.any], ...STATES.map((each) => [each, wordsOf(each)] as const)],
          },
          {
            kind: 'choice',
            name: 'stalled',
            label: texts.titles.stalled,
            options: [['', texts.values.all], ['any', texts.values.onlyStalled], ...causes],
          },
          brandFilter(brands, brand),
        ]}
        values={filters}
        onFilter={(name, value) => replaceFilters('sessions', { ...filters, [name]: value })}
        acts={(selected, clear) => (
          <BulkAct
            label={texts.buttons.readNow}
            operationId="refreshSession"
            on={selected.map(({ id, tenantReference }) => ({ id, name: tenantReference ?? id }))}
            count={texts.counts.session}
            onDone={clear}
          />
        )}
        pageOf={({ id }) => ({ to: 'sessions', id })}
        columns={[
          { title: texts.titles.session, of: ({ id }) => <SessionLink id={id} /> },
          {
            title: texts.titles.customer,
            of: ({ tenantReference }) =>
              tenantReference ?? <span className="soft">{texts.values.erased}</span>,
          },
          {
            title: texts.titles.brand,
            of: ({ brand: each }) =>
              each === null ? <span className="soft">{texts.values.none}</span> : brands.nameOf(each),
          },
          { title: texts.titles.state, of: (session) => <State session={session} /> },
          {
            title: texts.titles.stalled,
            of: ({ stalled: cause }) => <Stall stalled={cause} />,
            text: ({ stalled: cause }) => cause?.text ?? null,
            isText: true,
          },
          { title: texts.titles.changed, of: ({ stateChangedAt }) => <Age at={stateChangedAt} /> },
          { title: texts.titles.lastRead, of: ({ checkedAt }) => <Age at={checkedAt} /> },
          {
            title: texts.titles.nextRead,
            of: ({ nextCheckAt }) => <Age at={nextCheckAt} none={texts.values.notWatched} />,
          },
        ]}
      />
    </>
  );
}
