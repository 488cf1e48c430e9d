import type { QueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { followEvents } from '#client/events.js';
import { client, listener } from './client.js';
import { changedBy, type Subject } from '../rules/invalidation.js';

type Live =
  | { readonly kind: 'live' | 'connecting' }
  | { readonly kind: 'lost'; readonly since: Date }
  /** The key may not read events. */
  | { readonly kind: 'refused' };

let live: Live = { kind: 'connecting' };
const listeners = new Set<() => void>();

function become(next: Live): void {
  // Further failed attempts do not change the time since which the stream is lost.
  if (next.kind === live.kind) return;
  live = next;
  for (const each of listeners) each();
}

function subscribe(each: () => void): () => void {
  listeners.add(each);
  return () => void listeners.delete(each);
}

export const useLive = (): Live => useSyncExternalStore(subscribe, () => live);

/** The interval at which lists are read while no events arrive. */
export const POLL_MS = 10_000;
/** Events of one change arrive together. Waits for all of them, so that they cause only one read. */
const GATHER_MS = 500;

/**
 * Follows the events while the page is visible: over HTTP/1.1, a browser has six connections to one host for all of its tabs, and a stream
 * takes one. Returns a function that stops.
 */
export function follow(queries: QueryClient): () => void {
  let stop = () => {};
  const turn = () => {
    stop();
    stop = document.hidden ? () => {} : followNow(queries);
  };
  document.addEventListener('visibilitychange', turn);
  turn();
  return () => {
    document.removeEventListener('visibilitychange', turn);
    stop();
  };
}

/** Follows the events and marks the lists that they change as out of date. Returns a function that stops. */
function followNow(queries: QueryClient): () => void {
  const stopped = new AbortController();
  const changed = new Set<Subject>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = () => {
    timer = undefined;
    for (const subject of changed) void queries.invalidateQueries({ queryKey: [subject] });
    changed.clear();
  };
  listener.streamOpened = () => {
    // The events that were sent before are missing, so all data that were read before are read again.
    void queries.invalidateQueries();
    become({ kind: 'live' });
  };
  const run = async () => {
    const onRetry = () => become({ kind: 'lost', since: new Date() });
    for await (const { type } of followEvents(client, { signal: stopped.signal, onRetry })) {
      for (const subject of changedBy(type)) changed.add(subject);
      timer ??= setTimeout(flush, GATHER_MS);
    }
  };
  run().catch(() => become({ kind: 'refused' }));
  return () => {
    stopped.abort();
    clearTimeout(timer);
    live = { kind: 'connecting' };
  };
}
