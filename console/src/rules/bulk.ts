import type { StalledItem } from '../api/client.js';
import { idIn } from './stalled.js';

/** The operations that `POST /bulk-actions` does for many, those with `x-bulk` in openapi.json. */
export const BULK: readonly string[] = [
  'retryRegistration',
  'discardRegistration',
  'refreshSession',
  'redeliverWebhookDelivery',
  'revokeInvitation',
  'changeInvitation',
  'remindOwner',
  'startSession',
];

interface CommonRemedy {
  readonly operationId: string;
  readonly label: string;
  readonly confirm: string | null;
  readonly body: StalledItem['remedies'][number]['body'];
  /** The ids in the paths of the remedies, each with a name for a person. */
  readonly on: readonly { readonly id: string; readonly name: string }[];
}

/** Returns the remedies that all of these items have with the same body, and that can be applied to many. */
export function commonRemedies(items: readonly StalledItem[]): CommonRemedy[] {
  const [first] = items;
  if (first === undefined) return [];
  return first.remedies
    .filter(({ operationId }) => BULK.includes(operationId))
    .flatMap(({ operationId, label, confirm, body }) => {
      const on = items.flatMap((item) => {
        const remedy = item.remedies.find((each) => each.operationId === operationId);
        const id = remedy === undefined ? '' : idIn(remedy);
        if (id === '' || JSON.stringify(remedy?.body) !== JSON.stringify(body)) return [];
        return { id, name: item.tenantReference ?? item.id };
      });
      const isOfAll = on.length === items.length && new Set(on.map(({ id }) => id)).size === on.length;
      return isOfAll ? [{ operationId, label, confirm, body, on }] : [];
    });
}
