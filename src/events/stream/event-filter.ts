import type { EventName } from '../catalogue.rules.js';

/** Selects events for a reader. Default of each field: all events. */
export interface EventFilter {
  readonly types?: readonly EventName[];
  /** Only events about this session. */
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
