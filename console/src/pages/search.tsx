import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { ProblemError } from '#client/problem.js';
import { client } from '../api/client.js';
import { CustomerCases } from '../parts/customer.js';
import { Empty, Loaded } from '../parts/loaded.js';
import { useMay } from '../parts/may.js';
import { pathOf } from '../rules/route.js';
import { readTerm, type Term } from '../rules/search.js';

interface Props {
  readonly text: string;
  readonly onFound: (path: string) => void;
  /** Whether the search is a page of its own, which needs a heading. */
  readonly isOwnPage?: boolean;
}

/** Shows the customers that match a search term. Opens the page of a session if the term is its id. */
export function SearchPage({ text, onFound, isOwnPage = false }: Props) {
  const may = useMay();
  const term = readTerm(text);
  const found = useQuery({ queryKey: ['customers', 'search', text], queryFn: () => search(term) });
  const sessionId = found.data?.kind === 'session' ? found.data.id : null;
  useEffect(() => {
    if (sessionId !== null) onFound(pathOf('sessions', sessionId));
  }, [sessionId, onFound]);
  if (term.kind !== 'id' && !may('users:read'))
    return <Empty>To search customers needs the scope users:read.</Empty>;
  return (
    <>
      {isOwnPage && <h1>Search</h1>}
      <Loaded query={found}>
        {(result) =>
          result.kind === 'customers' && result.items.length > 0 ? (
            <CustomerCases customers={result.items} />
          ) : (
            <Empty>Nothing is known under “{text.trim()}”. References and ids are compared whole.</Empty>
          )
        }
      </Loaded>
    </>
  );
}

async function search(term: Term) {
  switch (term.kind) {
    case 'nothing':
      return { kind: 'nothing' } as const;
    case 'ean':
      return customersBy({ ean: term.ean });
    case 'reference':
      return customersBy({ tenantReference: term.tenantReference });
    case 'id':
      return byId(term.id);
  }
}

async function customersBy(query: { ean: string } | { tenantReference: string }) {
  const found = await unlessUnknown(client.GET('/api/v1/customers', { params: { query } }));
  return { kind: 'customers', items: found?.data.items ?? [] } as const;
}

/** Finds the object of an id. An id does not show its kind, so this tries a session first, and then a user. */
async function byId(id: string) {
  const session = await unlessUnknown(client.GET('/api/v1/onboarding/pv/{id}', { params: { path: { id } } }));
  if (session !== null) return { kind: 'session', id: session.data.id } as const;
  const user = await unlessUnknown(
    client.GET('/api/v1/users/{userId}', { params: { path: { userId: id } } }),
  );
  if (user !== null) return customersBy({ tenantReference: user.data.tenantReference });
  return { kind: 'nothing' } as const;
}

/** Returns the response, or null if the object is unknown. Throws a refusal for lack of a scope, since the object may exist. */
async function unlessUnknown<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ProblemError && error.code === 'not_found') return null;
    throw error;
  }
}
