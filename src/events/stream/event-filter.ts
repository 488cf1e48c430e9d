import type { EventName } from '../catalogue.rules.js';

/** Which events a reader wants; without a field, all. */
export interface EventFilter {
  readonly types?: readonly EventName[];
  /** Only what is about this session. */
  readonly sessionId?: string;
}

export function matches(
  { types, sessionId }: EventFilter,
  event: { readonly name: EventName; readonly subject: string },
): boolean {
  return (
    (types === undefined || types.includes(event.name)) &&
    (sessionId === undefined || event.subject === sessionId)
  );
}
