import { Button, TextInput } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { navigate } from '../parts/link.js';
import { Empty } from '../parts/loaded.js';
import { SearchPage } from './search.js';

/**
 * Shows a customer by user id, reference or EAN. The search term stays in memory, because a URL is stored in the browser's history and in
 * logs.
 */
export function CustomersPage({ userId }: { readonly userId: string | null }) {
  const [text, setText] = useState(userId ?? '');
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const term = new FormData(event.currentTarget).get('customer');
    setText(typeof term === 'string' ? term : '');
  };
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
      </form>
      {text === '' ? (
        <Empty>
          Enter the reference of a customer in your system or its beginning, the EAN of a grid connection, an
          id, or an invitation’s link.
        </Empty>
      ) : (
        <SearchPage key={text} text={text} onFound={navigate} />
      )}
    </>
  );
}
