import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { ProblemError } from '#client/problem.js';
import { client, type Customer } from '../api/client.js';
import { queries } from '../api/queries.js';
import { CustomerCases } from '../parts/customer.js';
import { Link } from '../parts/link.js';
import { Empty, Loaded } from '../parts/loaded.js';
import { useMay } from '../parts/may.js';
import { pathOf } from '../rules/route.js';
import { foundBy, pageOf } from '../rules/search.js';
import { texts } from '../texts.js';

interface Props {
  readonly text: string;
  readonly onFound: (path: string) => void;
  /** Whether the search is a page of its own, which needs a heading. */
  readonly isOwnPage?: boolean;
  /** Whether the page is that of the customer whose id the term is. */
  readonly isCustomer?: boolean;
}

/** Shows the customer that a search term means, and links to what else it may mean. Opens the page that alone can be meant. */
export function SearchPage({ text, onFound, isOwnPage = false, isCustomer = false }: Props) {
  const may = useMay();
  const maySearch = may('users:read') || may('onboarding:read');
  const found = useQuery({
    queryKey: keyOf(text, isCustomer),
    queryFn: () => search(text, may('users:read') && may('onboarding:read'), isCustomer),
    enabled: maySearch,
  });
  const page = found.data?.page ?? null;
  useEffect(() => {
    if (page !== null) onFound(pathOf(page.to, page.id));
  }, [page, onFound]);
  if (!maySearch) return <Empty>{texts.search.needsScope}</Empty>;
  return (
    <>
      {isOwnPage && <h1>{texts.search.title}</h1>}
      <Loaded query={found}>
        {({ customers, others }) => (
          <>
            {isCustomer && customers.length === 0 && <h1>{texts.titles.customer}</h1>}
            <CustomerCases customers={customers} isPage={isCustomer} />
            {others.length > 0 && (
              <>
                <h2>{customers.length > 0 ? texts.search.alsoFound : texts.search.found}</h2>
                <ul>
                  {others.map((hit) => (
                    <li key={hit.id}>
                      <span className="soft">{hit.kind}</span> <Link {...pageOf(hit)}>{hit.label}</Link>
                      {hit.tenantReference !== null && hit.tenantReference !== hit.label && (
                        <span className="soft"> {hit.tenantReference}</span>
                      )}
                    </li>
                  ))}
                </ul>
              </>
            )}
            {page === null && customers.length + others.length === 0 && (
              <Empty>{texts.search.nothing(text.trim())}</Empty>
            )}
          </>
        )}
      </Loaded>
    </>
  );
}

const keyOf = (text: string, isCustomer: boolean) => ['customers', 'search', text, isCustomer];

/** The term is in the body of the request: an address is in histories and logs. */
async function search(text: string, mayReadCustomers: boolean, isCustomer: boolean) {
  const { data } = await client.POST('/api/v1/search', { body: { q: text } });
  const { page, tenantReference, others } = foundBy(data.items, text);
  if (tenantReference === null) return { page, customers: [], others };
  if (!mayReadCustomers) return { page: null, customers: [], others: data.items };
  const known = { page: null, customers: await customersBy(tenantReference), others };
  if (page === null || isCustomer) return known;
  // The page of the customer shows what has been read, without another search.
  queries.setQueryData(keyOf(page.id ?? '', true), known);
  return { page, customers: [], others: [] };
}

async function customersBy(tenantReference: string): Promise<readonly Customer[]> {
  try {
    const { data } = await client.GET('/api/v1/customers', { params: { query: { tenantReference } } });
    return 'next' in data ? [] : data.items;
  } catch (error) {
    // It was erased meanwhile.
    if (error instanceof ProblemError && error.code === 'not_found') return [];
    throw error;
  }
}
