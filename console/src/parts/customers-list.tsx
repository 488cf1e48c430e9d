import type { paths } from '#client/openapi.js';
import type { ItemOf } from '#client/pages.js';
import { brandFilter, useBrands } from '../api/brands.js';
import { useList } from '../api/lists.js';
import { useCampaigns, useStalled } from '../api/queries.js';
import type { Filters } from '../rules/route.js';
import type { Target } from '../rules/stalled.js';
import { texts } from '../texts.js';
import { Link, replaceFilters } from './link.js';
import { List, type Filter } from './list.js';
import { useMay } from './may.js';
import { Sentence } from './sentence.js';
import { ShortId } from './short-id.js';
import { Urgency } from './state.js';
import { Age, Instant } from './time.js';

type Item = ItemOf<'/api/v1/customers'>;
type Query = NonNullable<paths['/api/v1/customers']['get']['parameters']['query']>;

/** The kinds of what can be stalled of a customer. */
const KINDS: readonly string[] = ['registration', 'start', 'session', 'invitation'];

/** Lists customers: the newest first or, by who is waited for or by cause, those that have been stalled the longest. */
export function CustomersList({ filters }: { readonly filters: Filters }) {
  const groups = useStalled();
  const campaigns = useCampaigns(useMay()('users:read'));
  const names = new Map(campaigns.data);
  const brands = useBrands();
  const { cause, campaignId, brand } = filters;
  const { waitsFor } = filters as Pick<Query, 'waitsFor'>;
  const list = useList('customers', '/api/v1/customers', { waitsFor, cause, campaignId, brand, limit: 50 });
  const causes = new Map(
    (groups.data ?? [])
      .filter(({ kind }) => KINDS.includes(kind))
      .map((each): [string, string] => [each.cause, each.title.replace(/\.$/, '')]),
  );
  for (const [value, all] of [
    [cause, causes],
    [campaignId, names],
  ] as const)
    if (value !== undefined && !all.has(value)) all.set(value, value);
  const choices: Filter[] = [
    {
      kind: 'choice',
      name: 'waitsFor',
      label: texts.customers.stalledFor,
      options: [
        ['', texts.customers.all],
        ...Object.entries(texts.shortWaits).filter(([who]) => who !== 'nobody'),
      ],
    },
    {
      kind: 'choice',
      name: 'cause',
      label: texts.titles.stalledBecause,
      options: [['', texts.customers.anyCause], ...causes],
    },
    {
      kind: 'choice',
      name: 'campaignId',
      label: texts.titles.campaign,
      options: [['', texts.values.any], ...names],
    },
    brandFilter(brands, brand),
  ];
  return (
    <List
      label={texts.pages.customers}
      list={list}
      count={texts.counts.customer}
      order={
        filters.waitsFor === undefined && cause === undefined
          ? texts.orders.newestFirst
          : texts.orders.longestStalledFirst
      }
      keyOf={({ tenantReference }) => tenantReference}
      empty={
        choices.some(({ name }) => filters[name] !== undefined)
          ? texts.customers.noneMatches
          : texts.customers.none
      }
      filters={choices}
      values={filters}
      onFilter={(name, value) => replaceFilters('customers', { ...filters, [name]: value })}
      pageOf={pageOf}
      columns={[
        {
          title: texts.titles.customer,
          of: (each) => <Name of={each} />,
          text: ({ tenantReference }) => tenantReference,
        },
        {
          title: texts.titles.ean,
          of: ({ gridLocations }) => <span className="digits">{eansOf(gridLocations).join(' ')}</span>,
          text: ({ gridLocations }) => eansOf(gridLocations).join(' '),
        },
        {
          title: texts.titles.waitsFor,
          of: (each) => <span title={texts.waits[each.waitsFor]}>{texts.shortWaits[each.waitsFor]}</span>,
          text: (each) => texts.shortWaits[each.waitsFor],
        },
        {
          title: texts.titles.why,
          of: ({ why, stalled }) => (
            <>
              <Sentence text={why} /> {stalled !== null && <Urgency of={stalled.urgency} />}
            </>
          ),
          text: ({ why }) => why,
          isText: true,
        },
        { title: texts.titles.since, of: ({ since }) => <Age at={since} />, text: ({ since }) => since },
        { title: texts.titles.brands, of: (each) => brands.namesOf(each.brands) },
        {
          title: texts.titles.campaign,
          of: ({ campaignId: id }) => (id === null ? null : (names.get(id) ?? id.slice(0, 8))),
        },
        {
          title: texts.titles.registered,
          of: ({ createdAt }) => <Instant at={createdAt} />,
          text: ({ createdAt }) => createdAt,
        },
        {
          title: texts.titles.id,
          of: (each) => <ShortId of={idOf(each) ?? ''} />,
          text: idOf,
        },
      ]}
    />
  );
}

const idOf = ({ userId, registrationId }: Item) => userId ?? registrationId;

function pageOf(customer: Item): Target | null {
  const id = idOf(customer);
  return id === null ? null : { to: 'customers', id };
}

function Name({ of: customer }: { readonly of: Item }) {
  const page = pageOf(customer);
  const name = <strong>{customer.tenantReference}</strong>;
  return page === null ? name : <Link {...page}>{name}</Link>;
}

const eansOf = (locations: readonly { readonly ean: string }[]): string[] => locations.map(({ ean }) => ean);
