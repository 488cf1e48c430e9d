import { refuse } from '../../platform/http/validation.js';
import { EVENT_NAMES, type EventName } from '../catalogue.rules.js';
import { findEventName, formatSequence } from '../cloud-event.js';

/** A position in the feed in a parameter or header, with or without leading zeros. */
export const SEQUENCE = /^0?[0-9]{1,18}$/;

/** Parses `session.online,pv.inverter.online.v1`; undefined means all types. Throws Problem invalid_request for `types`. */
export function readTypes(list: string | undefined): EventName[] | undefined {
  if (list === undefined) return undefined;
  const texts = list.split(',').map((text) => text.trim());
  const names = texts.map(findEventName);
  const unknown = texts.filter((_text, index) => names[index] === null);
  if (unknown.length > 0) {
    const said = unknown.map((text) => JSON.stringify(text.slice(0, 100))).join(', ');
    refuse([
      { field: 'types', message: `must list event types; ${said} is none of ${EVENT_NAMES.join(', ')}` },
    ]);
  }
  return names.filter((name) => name !== null);
}

/**
 * Throws Problem invalid_request for a position beyond the newest event. Its reader would silently wait until that many events exist,
 * and miss all of them. Such a position comes from another database, or from before a backup was restored.
 */
export function refuseBeyondNewest(field: string, place: string, newest: string): void {
  if (BigInt(place) <= BigInt(newest)) return;
  refuse([{ field, message: `lies beyond the newest event, whose sequence is ${formatSequence(newest)}` }]);
}
