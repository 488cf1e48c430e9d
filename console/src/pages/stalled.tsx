import { Button } from '@mantine/core';
import { useState } from 'react';
import type { paths } from '#client/openapi.js';
import type { StalledGroup, StalledItem } from '../api/client.js';
import { useList } from '../api/lists.js';
import { brandFilter, useBrands } from '../api/brands.js';
import { useCampaigns, useStalled } from '../api/queries.js';
import { countOf } from '../format/words.js';
import { BulkRemedies } from '../parts/bulk.js';
import { useNow } from '../parts/clock.js';
import { Link, replaceFilters } from '../parts/link.js';
import { List, type Filter } from '../parts/list.js';
import { useMay } from '../parts/may.js';
import { Badge } from '../parts/panel.js';
import { Remedies } from '../parts/remedies.js';
import { Sentence } from '../parts/sentence.js';
import { IdLink, ShortId } from '../parts/short-id.js';
import { Work, WorkAct } from '../parts/stall-work.js';
import { Urgency } from '../parts/state.js';
import { Age } from '../parts/time.js';
import type { BrandNames } from '../rules/brands.js';
import type { Filters } from '../rules/route.js';
import { plainly } from '../rules/sentence.js';
import { missingFor } from '../rules/scopes.js';
import { isNew, KINDS, pageAbout, SHORT_WAITS, WAITS_FOR } from '../rules/stalled.js';

type Query = NonNullable<paths['/api/v1/stalled']['get']['parameters']['query']>;

export function StalledPage({ filters }: { readonly filters: Filters }) {
  const groups = useStalled();
  const campaigns = useCampaigns(useMay()('users:read'));
  const brands = useBrands();
  const { kind, cause, waitsFor, campaignId, brand } = filters;
  const list = useList('stalled', '/api/v1/stalled', {
    ...({ kind, waitsFor } as Pick<Query, 'kind' | 'waitsFor'>),
    cause,
    campaignId,
    brand,
    limit: 50,
  });
  const causes = new Map((groups.data ?? []).map((each) => [each.cause, each.title]));
  const choices: Filter[] = [
    {
      kind: 'choice',
      name: 'cause',
      label: 'Cause',
      options: [['', 'any'], ...causes, ...known(cause, causes)],
    },
    {
      kind: 'choice',
      name: 'kind',
      label: 'What',
      options: [['', 'any'], ...KINDS.map((each) => [each, each] as const)],
    },
    {
      kind: 'choice',
      name: 'waitsFor',
      label: 'Waits for',
      options: [['', 'anybody'], ...Object.entries(SHORT_WAITS)],
    },
    {
      kind: 'choice',
      name: 'campaignId',
      label: 'Campaign',
      options: [['', 'any'], ...(campaigns.data ?? []), ...known(campaignId, new Map(campaigns.data))],
    },
    brandFilter(brands, brand),
  ];
  const isFiltered = choices.some(({ name }) => filters[name] !== undefined);
  return (
    <>
      <h1>Stalled</h1>
      <p className="soft">What does not continue by itself.</p>
      {campaignId === undefined && brand === undefined && (
        <Causes
          of={(groups.data ?? []).filter((each) => waitsFor === undefined || each.waitsFor === waitsFor)}
          filters={filters}
        />
      )}
      <List
        label="Stalled"
        list={list}
        unit="item"
        order="the longest stalled first"
        keyOf={({ kind: what, id }) => `${what} ${id}`}
        empty={isFiltered ? 'Nothing that is stalled matches the filters.' : 'Nothing is stalled.'}
        filters={choices}
        values={filters}
        onFilter={(name, value) => replaceFilters('stalled', { ...filters, [name]: value })}
        pageOf={(item) => pageAbout(item)}
        acts={(selected, clear) => (
          <BulkRemedies
            of={selected}
            none="These have no remedy in common: select those of one cause."
            onDone={clear}
          />
        )}
        columns={columnsOf(brands)}
      />
    </>
  );
}

/** Returns an option for a value of the address that is in no list, such as a cause that nothing has any more. */
const known = (value: string | undefined, names: ReadonlyMap<string, string>) =>
  value === undefined || names.has(value) ? [] : [[value, value] as const];

/** The causes with what is stalled for each: the most urgent first, the others on request. */
function Causes({ of: groups, filters }: CausesProps) {
  const [isOpen, setOpen] = useState(false);
  const isChosen = ({ kind, cause }: StalledGroup) => filters.cause === cause && filters.kind === kind;
  const shown = isOpen ? groups : groups.filter((each, at) => at < MOST_CAUSES || isChosen(each));
  return (
    <div className="causes" role="group" aria-label="Causes">
      {shown.map((group) => (
        <Cause key={`${group.kind} ${group.cause}`} of={group} filters={filters} />
      ))}
      {groups.length > MOST_CAUSES && (
        <Button variant="subtle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Fewer causes' : `${countOf(groups.length - MOST_CAUSES, 'more cause')}`}
        </Button>
      )}
    </div>
  );
}

const MOST_CAUSES = 4;

interface CausesProps {
  readonly of: readonly StalledGroup[];
  readonly filters: Filters;
}

/** A button that shows only what is stalled for one cause. */
function Cause({ of: { kind, cause, title, count }, filters }: CauseProps) {
  const isChosen = filters.cause === cause && filters.kind === kind;
  const { kind: _kind, cause: _cause, ...others } = filters;
  return (
    <Button
      variant={isChosen ? 'filled' : 'default'}
      aria-pressed={isChosen}
      onClick={() => replaceFilters('stalled', isChosen ? others : { ...others, kind, cause })}
    >
      {`${countOf(count, kind)}: ${plainly(title.replace(/\.$/, ''))}`}
    </Button>
  );
}

interface CauseProps {
  readonly of: StalledGroup;
  readonly filters: Filters;
}

const columnsOf = ({ nameOf }: BrandNames) => [
  {
    title: 'Since',
    of: (item: StalledItem) => (
      <>
        <Age at={item.since} /> <New item={item} />
      </>
    ),
    text: ({ since }: StalledItem) => since,
  },
  {
    title: 'Urgent',
    of: ({ urgency }: StalledItem) => <Urgency of={urgency} />,
    text: ({ urgency }: StalledItem) => urgency,
  },
  {
    title: 'Customer',
    of: (item: StalledItem) => <Customer of={item} />,
    text: ({ tenantReference }: StalledItem) => tenantReference,
  },
  { title: 'Brand', of: ({ brand }: StalledItem) => brand && nameOf(brand) },
  {
    title: 'What',
    of: (item: StalledItem) => (
      <>
        {item.kind} <Id item={item} />
      </>
    ),
    text: ({ kind, id }: StalledItem) => `${kind} ${id}`,
  },
  {
    title: 'Why',
    of: (item: StalledItem) => (
      <>
        <Sentence text={item.text} />
        {item.before !== null && (
          <div className="soft">
            First: <Sentence text={item.before} />
          </div>
        )}
        <Work of={item} />
      </>
    ),
    text: ({ text }: StalledItem) => text,
    isText: true,
  },
  {
    title: 'Waits for',
    of: ({ waitsFor }: StalledItem) => <span title={WAITS_FOR[waitsFor]}>{SHORT_WAITS[waitsFor]}</span>,
    text: ({ waitsFor }: StalledItem) => SHORT_WAITS[waitsFor],
  },
  {
    title: 'Who, note',
    isHidden: true,
    of: (item: StalledItem) => <Work of={item} />,
    text: ({ assignee, note }: StalledItem) => [assignee, note].filter((each) => each !== null).join(': '),
  },
  {
    title: 'What to do',
    of: (item: StalledItem) => (
      <span className="actions">
        <Remedies of={item} page={pageAbout(item)} />
        <WorkAct of={item} />
      </span>
    ),
    text: ({ remedies }: StalledItem) => remedies.map(({ label }) => label).join('; '),
  },
];

const New = ({ item }: { readonly item: StalledItem }) =>
  isNew(item, useNow()) && <Badge tone="attention">new</Badge>;

function Id({ item }: { readonly item: StalledItem }) {
  const page = pageAbout(item);
  return page === null ? <ShortId of={item.id} /> : <IdLink {...page} of={item.id} />;
}

/** Shows the reference of the customer, which leads to its page. */
function Customer({ of: { tenantReference, gridLocationId, kind, id } }: { readonly of: StalledItem }) {
  const mayOpen = missingFor('customers', useMay()) === null;
  const customer = gridLocationId ?? (kind === 'registration' ? id : null);
  if (tenantReference === null) return <span className="soft">–</span>;
  if (customer === null || !mayOpen) return tenantReference;
  return (
    <Link to="customers" id={customer}>
      {tenantReference}
    </Link>
  );
}
