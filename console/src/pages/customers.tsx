import { Button, TextInput } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { CustomersList } from '../parts/customers-list.js';
import { Link, navigate } from '../parts/link.js';
import type { Filters } from '../rules/route.js';
import { SearchPage } from './search.js';

interface Props {
  readonly userId: string | null;
  readonly filters: Filters;
}

/**
 * Lists customers, or shows one by user id, reference or EAN. The search term stays in memory, because a URL is stored in the browser's history and in
 * logs.
 */
export function CustomersPage({ userId, filters }: Props) {
  const [text, setText] = useState('');
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const term = new FormData(event.currentTarget).get('customer');
    setText(typeof term === 'string' ? term : '');
  };
  if (userId !== null)
    return (
      <>
        <p>
          <Link to="customers">All customers</Link>
        </p>
        <SearchPage text={userId} isCustomer onFound={navigate} />
      </>
    );
  return (
    <>
      <h1>Customers</h1>
      <form className="filters" onSubmit={submit}>
        <TextInput
          size="xs"
          name="customer"
          label="Reference, EAN or user id"
          withAsterisk={false}
          autoComplete="off"
          spellCheck={false}
          maxLength={200}
          required
        />
        <Button variant="filled" type="submit">
          Find
        </Button>
        {text !== '' && (
          <Button variant="subtle" onClick={() => setText('')}>
            All customers
          </Button>
        )}
      </form>
      {text === '' ? (
        <CustomersList filters={filters} />
      ) : (
        <SearchPage key={text} text={text} onFound={navigate} />
      )}
    </>
  );
}
