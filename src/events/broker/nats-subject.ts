import type { CloudEvent } from '../cloud-event.js';

/**
 * Returns the NATS subject of an event: its type, then its subject as one more token, such as
 * `pv.session.online.v1.6f2c0d0e-3a0f-4a8d-9a53-0d5f7c8b9a01`. All types have the same number of tokens, so `pv.*.*.v1.<session id>`
 * matches all events of one session.
 */
export const toNatsSubject = ({ type, subject }: Pick<CloudEvent, 'type' | 'subject'>): string =>
  `${type}.${toToken(subject)}`;

/** Leaves ids unchanged. Percent-encodes the separators and wildcards of NATS, such as a dot as `%2E`. */
const toToken = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replace(
    /[.*!'()~]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
