import type { Delivery, TimelineEntry } from '../api/client.js';
import { startingUpper, wordsOf } from '../format/words.js';
import { texts } from '../texts.js';

/** A period in which the session stays in one state. */
interface Segment {
  readonly state: string;
  /** Whether we inferred the state. If not, the remote service stated it. */
  readonly isInferred: boolean;
  readonly from: Date;
  readonly to: Date;
}

/** A response of the remote service together with the transition that follows from it, or any other entry. */
export interface Row {
  readonly at: string;
  readonly kind: TimelineEntry['kind'];
  readonly summary: string;
  /** The transition that followed from this response; null if it changed no state. */
  readonly made: { readonly state: string; readonly isInferred: boolean; readonly rule: string } | null;
  readonly eventId: string | null;
}

const textOf = (value: unknown): string | null =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : null;

const transitionOf = ({ details }: TimelineEntry) => ({
  state: textOf(details.toState) ?? 'unknown',
  isInferred: details.basis === 'inferred',
  rule: textOf(details.rule) ?? '',
});

/** Returns the periods of the states in their order. The last one ends with the session, or else at `now`. */
export function segmentsOf(entries: readonly TimelineEntry[], now: Date): Segment[] {
  const transitions = entries.filter(({ kind }) => kind === 'transition');
  const over = entries.find(({ kind }) => kind === 'closed' || kind === 'superseded');
  const last = over === undefined ? now : new Date(over.at);
  return transitions.map((entry, index) => {
    const next = transitions[index + 1];
    const from = new Date(entry.at);
    const to = next === undefined ? new Date(Math.max(last.getTime(), from.getTime())) : new Date(next.at);
    return { ...transitionOf(entry), from, to };
  });
}

/** Returns what happened, in words. */
function summaryOf({ kind, summary, details }: TimelineEntry): string {
  switch (kind) {
    case 'start':
      return texts.timeline.startRequested(Number(details.attempts ?? 1), Number(details.orphans ?? 0));
    case 'observation': {
      const inverters = textOf(details.inverters);
      const count = inverters === null ? null : Number(inverters);
      return texts.timeline.observed(details.source === 'start', flagsOf(details), count);
    }
    case 'transition':
      return details.fromState === null || details.fromState === undefined
        ? texts.timeline.firstState
        : texts.timeline.noLonger(wordsOf(textOf(details.fromState) ?? ''));
    case 'event':
      return texts.timeline.event(textOf(details.name) ?? '');
    case 'closed':
      return texts.timeline.closed(wordsOf(textOf(details.closeReason) ?? ''));
    case 'superseded':
      return startingUpper(summary);
  }
}

const FLAGS = ['finished', 'active', 'expired'] as const;

/** Returns what the remote service stated of all flags. */
export const flagsOf = (stated: Readonly<Partial<Record<(typeof FLAGS)[number], unknown>>>): string =>
  FLAGS.map((name) => texts.sessions.flag(name, flagOf(stated[name]))).join(', ');

/** Returns what the remote service stated of a flag. */
const flagOf = (value: unknown): string =>
  value === true || value === 'true'
    ? texts.values.yes
    : value === false || value === 'false'
      ? texts.values.no
      : texts.values.notStated;

/** Joins each transition with the response that it follows from. */
export function rowsOf(entries: readonly TimelineEntry[]): Row[] {
  const observed = new Set(
    entries.flatMap(({ kind, details }) => (kind === 'observation' ? [textOf(details.observationId)] : [])),
  );
  return entries.flatMap((entry) => {
    const { at, kind, details } = entry;
    const observationId = textOf(details.observationId);
    if (kind === 'transition' && observationId !== null && observed.has(observationId)) return [];
    const result = entries.find(
      (each) =>
        observationId !== null &&
        each.kind === 'transition' &&
        textOf(each.details.observationId) === observationId,
    );
    const made = kind === 'transition' ? entry : result;
    return [
      {
        at,
        kind,
        summary: summaryOf(entry),
        made: made === undefined ? null : transitionOf(made),
        eventId: kind === 'event' ? textOf(details.eventId) : null,
      },
    ];
  });
}

/** The deliveries of events as far as they are known. `isWhole`: whether these are all of them. */
export interface KnownDeliveries {
  readonly items: readonly Pick<Delivery, 'eventId' | 'status'>[];
  readonly isWhole: boolean;
}

/** Returns to whom an event was delivered, in words. `known`: null if the deliveries could not be read, or not yet. */
export function receivedBy(eventId: string, known: KnownDeliveries | null): string {
  const deliveries = known?.items.filter((each) => each.eventId === eventId) ?? [];
  if (deliveries.length === 0)
    return known?.isWhole === true ? texts.timeline.notTaken : texts.timeline.notShown;
  const got = deliveries.filter(({ status }) => status === 'delivered').length;
  return texts.timeline.receivedBy(got, deliveries.length);
}

/**
 * Returns where each segment begins in a chart of this width, and its width. A short segment gets at least `leastWidth`, so that it is
 * visible. The long segments become shorter by that.
 */
export function layOut(
  segments: readonly Segment[],
  width: number,
  leastWidth: number,
): [x: number, width: number][] {
  const lengths = segments.map(({ from, to }) => to.getTime() - from.getTime());
  const total = lengths.reduce((sum, each) => sum + each, 0);
  const free = width - leastWidth * segments.length;
  let x = 0;
  return lengths.map((length) => {
    const own = leastWidth + (total === 0 ? free / segments.length : (free * length) / total);
    const place: [number, number] = [x, own];
    x += own;
    return place;
  });
}
