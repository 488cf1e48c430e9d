import type { FieldError } from '../../../platform/problem/problem.js';
import { EVENT_NAMES, type EventName } from '../../catalogue.rules.js';
import { findEventName } from '../../cloud-event.js';
import { webhookHeaderErrors, type WebhookHeaders } from './headers.js';
import { webhookSecretFault } from '../secrets/secret.js';
import { webhookUrlFault, type UrlRules } from './url.js';

/** What a person or app says of an endpoint; of a change only what is to change. */
export interface EndpointInput {
  readonly url?: string;
  readonly types?: readonly string[];
  readonly description?: string;
  readonly headers?: WebhookHeaders;
  readonly secret?: string;
}

/** What is wrong with it, field by field; the types of the fields themselves have been checked before. */
export function endpointInputErrors(input: EndpointInput, rules: UrlRules): FieldError[] {
  const { url, types = [], headers = {}, secret } = input;
  return [
    ...faultAt('url', url === undefined ? undefined : webhookUrlFault(url, rules)),
    ...typeErrors(types),
    ...webhookHeaderErrors(headers),
    ...faultAt('secret', secret === undefined ? undefined : webhookSecretFault(secret)),
  ];
}

/** What is wrong with a list of event types: names or whole types, each of which there is. */
export function typeErrors(types: readonly string[]): FieldError[] {
  return types.flatMap((type, index) =>
    faultAt(
      `types[${index}]`,
      findEventName(type) === null ? `must be one of ${EVENT_NAMES.join(', ')}` : undefined,
    ),
  );
}

/** Each once, in the order of the catalogue; what is none is left out. */
export const eventNamesOf = (types: readonly string[]): EventName[] => {
  const asked = new Set(types.map(findEventName));
  return EVENT_NAMES.filter((name) => asked.has(name));
};

const faultAt = (field: string, message: string | undefined): FieldError[] =>
  message === undefined ? [] : [{ field, message }];
