import type { CloudEvent } from '../cloud-event.js';

/**
 * Where an event is published: its type, then its subject as one more token, such as
 * `pv.session.online.v1.6f2c0d0e-3a0f-4a8d-9a53-0d5f7c8b9a01`. All types have as many tokens, so `pv.*.*.v1.<session id>` is
 * everything about one session.
 */
export const toNatsSubject = ({ type, subject }: Pick<CloudEvent, 'type' | 'subject'>): string =>
  `${type}.${toToken(subject)}`;

/** Ids stay as they are; whatever NATS would take for a separator or a wildcard is written as in a URL, `%2E` for a dot. */
const toToken = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replace(
    /[.*!'()~]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
