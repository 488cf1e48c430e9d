import { Alert, Button, Loader } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { ProblemError } from '#client/problem.js';
import { texts } from '../texts.js';
import { Age } from './time.js';

/** Why the console itself refuses to go on, in words for people. */
export class Refusal extends Error {}

/** Returns why something failed, for people. `unreachable`: what a failure without a response means. */
export function failureOf(error: unknown, unreachable = texts.loaded.unreachable): string {
  if (error instanceof ProblemError && error.code !== 'unexpected_response') {
    const fields = error.errors.map(({ field, message }) => `${field} ${message}`);
    // The detail of an invalid request repeats them.
    return [error.detail, ...fields.filter((each) => !error.detail.includes(each))].join('; ');
  }
  // A gateway says no more than that the service is away.
  if (error instanceof ProblemError && error.status < 500) return texts.loaded.refusedBefore(error.status);
  return error instanceof Refusal ? error.message : unreachable;
}

/** Shows why the action of a person failed; nothing if it has not failed. */
export const Failure = ({ of: error }: { readonly of: Error | null }) =>
  error !== null && (
    <Alert color="red" className="failure">
      {failureOf(error, texts.loaded.unanswered)}
    </Alert>
  );

interface Props<Data> {
  readonly query: UseQueryResult<Data>;
  readonly children: (data: Data) => ReactNode;
}

/**
 * Returns why a query has failed; null if it has not. A query without data forgets it at each further attempt, and tells of the first
 * failure only in `failureReason`, until it has tried again.
 */
function useFailure({ data, error, failureReason, errorUpdatedAt }: UseQueryResult<unknown>): Error | null {
  const [last, setLast] = useState<Error | null>(null);
  const untold = data === undefined ? (failureReason ?? (errorUpdatedAt === 0 ? null : last)) : null;
  const failure = error ?? untold;
  if (failure !== last) setLast(failure);
  return failure;
}

/** Shows the data of a query. Shows a message while the query loads, if it failed, and if the data are old. */
export function Loaded<Data>({ query, children }: Props<Data>) {
  const { data, dataUpdatedAt, isFetching, refetch } = query;
  const error = useFailure(query);
  const failure = error !== null && (
    <Alert color="red" className="failure">
      {failureOf(error)}
      {data !== undefined && <> {texts.loaded.lastRead(<Age at={new Date(dataUpdatedAt)} />)}</>}{' '}
      <Button disabled={isFetching} onClick={() => void refetch()}>
        {texts.buttons.tryAgain}
      </Button>
    </Alert>
  );
  if (data !== undefined)
    return (
      <>
        {failure}
        {children(data)}
      </>
    );
  return failure || <Loading />;
}

export const Loading = () => (
  <p className="loading">
    <Loader size="xs" type="dots" aria-hidden="true" /> {texts.loaded.loading}
  </p>
);

export const Empty = ({ children }: { readonly children: ReactNode }) => <p className="empty">{children}</p>;
