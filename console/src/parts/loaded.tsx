import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ProblemError } from '#client/problem.js';
import { Age } from './time.js';

/** Returns why something failed, for people. */
export function failureOf(error: unknown): string {
  if (error instanceof ProblemError && error.code !== 'unexpected_response') {
    const fields = error.errors.map(({ field, message }) => `${field} ${message}`);
    return [error.detail, ...fields].join('; ');
  }
  return 'The service cannot be reached.';
}

/** Shows why the action of a person failed; nothing if it has not failed. */
export const Failure = ({ of: error }: { readonly of: Error | null }) =>
  error !== null && (
    <p className="failure" role="alert">
      {failureOf(error)}
    </p>
  );

interface Props<Data> {
  readonly query: UseQueryResult<Data>;
  readonly children: (data: Data) => ReactNode;
}

/** Shows the data of a query. Shows a message while the query loads, if it failed, and if the data are old. */
export function Loaded<Data>({ query, children }: Props<Data>) {
  const { data, error, dataUpdatedAt, isFetching, refetch } = query;
  const failure = error !== null && (
    <p className="failure" role="alert">
      {failureOf(error)}
      {data !== undefined && (
        <>
          {' '}
          This was read <Age at={new Date(dataUpdatedAt)} />.
        </>
      )}{' '}
      <button type="button" className="small" disabled={isFetching} onClick={() => void refetch()}>
        Try again
      </button>
    </p>
  );
  if (data !== undefined)
    return (
      <>
        {failure}
        {children(data)}
      </>
    );
  return failure || <p className="loading">Loading …</p>;
}

export const Empty = ({ children }: { readonly children: ReactNode }) => <p className="empty">{children}</p>;
