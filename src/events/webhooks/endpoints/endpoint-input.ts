import type { FieldError } from '../../../platform/problem/problem.js';
import { EVENT_NAMES, type EventName } from '../../catalogue.rules.js';
import { findEventName } from '../../cloud-event.js';
import { webhookHeaderErrors, type WebhookHeaders } from './headers.js';
import { webhookSecretFault } from '../secrets/secret.js';
import { webhookUrlFault, type UrlRules } from './url.js';

/** The settings in a request. A change contains only the fields to be changed. */
export interface EndpointInput {
  readonly url?: string;
  readonly types?: readonly string[];
  readonly description?: string;
  readonly headers?: WebhookHeaders;
  readonly secret?: string;
}

/** Returns the errors of each field. The types of the fields have been validated before. */
export function endpointInputErrors(input: EndpointInput, rules: UrlRules): FieldError[] {
  const { url, types = [], headers = {}, secret } = input;
  return [
    ...faultAt('url', url === undefined ? undefined : webhookUrlFault(url, rules)),
    ...typeErrors(types),
    ...webhookHeaderErrors(headers),
    ...faultAt('secret', secret === undefined ? undefined : webhookSecretFault(secret)),
  ];
}

/** Returns an error for each item that is not an event name or event type. */
export function typeErrors(types: readonly string[]): FieldError[] {
  return types.flatMap((type, index) =>
    faultAt(
      `types[${index}]`,
      findEventName(type) === null ? `must be one of ${EVENT_NAMES.join(', ')}` : undefined,
    ),
  );
}

/** Returns each event name once, in catalogue order; drops unknown ones. */
export const eventNamesOf = (types: readonly string[]): EventName[] => {
  const asked = new Set(types.map(findEventName));
  return EVENT_NAMES.filter((name) => asked.has(name));
};

const faultAt = (field: string, message: string | undefined): FieldError[] =>
  message === undefined ? [] : [{ field, message }];
