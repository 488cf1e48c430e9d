import { Button } from '@mantine/core';
import { useState } from 'react';
import type { paths } from '#client/openapi.js';
import type { StalledGroup, StalledItem } from '../api/client.js';
import { useList } from '../api/lists.js';
import { brandFilter, useBrands } from '../api/brands.js';
import { useCampaigns, useStalled } from '../api/queries.js';
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
import { isNew, KINDS, pageAbout } from '../rules/stalled.js';
import { texts } from '../texts.js';

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
      label: texts.titles.cause,
      options: [['', texts.values.any], ...causes, ...known(cause, causes)],
    },
    {
      kind: 'choice',
      name: 'kind',
      label: texts.titles.what,
      options: [['', texts.values.any], ...KINDS.map((each) => [each, each] as const)],
    },
    {
      kind: 'choice',
      name: 'waitsFor',
      label: texts.titles.waitsFor,
      options: [['', texts.values.anybody], ...Object.entries(texts.shortWaits)],
    },
    {
      kind: 'choice',
      name: 'campaignId',
      label: texts.titles.campaign,
      options: [
        ['', texts.values.any],
        ...(campaigns.data ?? []),
        ...known(campaignId, new Map(campaigns.data)),
      ],
    },
    brandFilter(brands, brand),
  ];
  const isFiltered = choices.some(({ name }) => filters[name] !== undefined);
  return (
    <>
      <h1>{texts.pages.stalled}</h1>
      <p className="soft">{texts.stalled.explanation}</p>
      {campaignId === undefined && brand === undefined && (
        <Causes
          of={(groups.data ?? []).filter((each) => waitsFor === undefined || each.waitsFor === waitsFor)}
          filters={filters}
        />
      )}
      <List
        label={texts.pages.stalled}
        list={list}
        count={texts.counts.item}
        order={texts.orders.longestStalledFirst}
        keyOf={({ kind: what, id }) => `${what} ${id}`}
        empty={isFiltered ? texts.stalled.noneMatches : texts.stalled.none}
        filters={choices}
        values={filters}
        onFilter={(name, value) => replaceFilters('stalled', { ...filters, [name]: value })}
        pageOf={(item) => pageAbout(item)}
        acts={(selected, clear) => (
          <BulkRemedies of={selected} none={texts.bulk.noRemedyInCommon} onDone={clear} />
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
    <div className="causes" role="group" aria-label={texts.stalled.causes}>
      {shown.map((group) => (
        <Cause key={`${group.kind} ${group.cause}`} of={group} filters={filters} />
      ))}
      {groups.length > MOST_CAUSES && (
        <Button variant="subtle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? texts.stalled.fewerCauses : texts.stalled.moreCauses(groups.length - MOST_CAUSES)}
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
      {texts.needs.group(texts.counts[kind](count), plainly(title.replace(/\.$/, '')))}
    </Button>
  );
}

interface CauseProps {
  readonly of: StalledGroup;
  readonly filters: Filters;
}

const columnsOf = ({ nameOf }: BrandNames) => [
  {
    title: texts.titles.since,
    of: (item: StalledItem) => (
      <>
        <Age at={item.since} /> <New item={item} />
      </>
    ),
    text: ({ since }: StalledItem) => since,
  },
  {
    title: texts.titles.urgent,
    of: ({ urgency }: StalledItem) => <Urgency of={urgency} />,
    text: ({ urgency }: StalledItem) => urgency,
  },
  {
    title: texts.titles.customer,
    of: (item: StalledItem) => <Customer of={item} />,
    text: ({ tenantReference }: StalledItem) => tenantReference,
  },
  { title: texts.titles.brand, of: ({ brand }: StalledItem) => brand && nameOf(brand) },
  {
    title: texts.titles.what,
    of: (item: StalledItem) => (
      <>
        {item.kind} <Id item={item} />
      </>
    ),
    text: ({ kind, id }: StalledItem) => `${kind} ${id}`,
  },
  {
    title: texts.titles.why,
    of: (item: StalledItem) => (
      <>
        <Sentence text={item.text} />
        {item.before !== null && (
          <div className="soft">{texts.stall.first(<Sentence text={item.before} />)}</div>
        )}
        <Work of={item} />
      </>
    ),
    text: ({ text }: StalledItem) => text,
    isText: true,
  },
  {
    title: texts.titles.waitsFor,
    of: ({ waitsFor }: StalledItem) => (
      <span title={texts.waits[waitsFor]}>{texts.shortWaits[waitsFor]}</span>
    ),
    text: ({ waitsFor }: StalledItem) => texts.shortWaits[waitsFor],
  },
  {
    title: texts.titles.whoAndNote,
    isHidden: true,
    of: (item: StalledItem) => <Work of={item} />,
    text: ({ assignee, note }: StalledItem) => [assignee, note].filter((each) => each !== null).join(': '),
  },
  {
    title: texts.titles.whatToDo,
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
  isNew(item, useNow()) && <Badge tone="attention">{texts.stalled.new}</Badge>;

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
