import * as schema from '../../platform/openapi/schema-of.js';
import { found, Problem } from '../../platform/problem/problem.js';
import type { BeingSent, Erasure } from './erasures.store.js';

class ErasedCountsView extends schema.schemaOf({
  gridLocations: schema.count('Grid locations whose EAN was erased'),
  registrations: schema.count('Registrations of this tenantReference, in any status'),
  sessions: schema.count(
    'Sessions whose metadata and startUrl were erased; the history of their states stays',
  ),
  observations: schema.count('Stored responses of the remote service'),
  inverters: schema.count('Inverters, counted once per session that listed them'),
  consents: schema.count('Consents of the owner'),
  events: schema.count('Events whose tenantReference, metadata and inverter ids were erased'),
}) {}

class RemoteErasureView extends schema.schemaOf({
  erased: schema.field<false>({ enum: [false] }),
  detail: schema.text('The remaining steps, for people'),
}) {}

export class ErasureReceiptView extends schema.resourceOf('erasure_receipt', {
  id: schema.uuid(),
  userId: schema.nullable(schema.uuid('null if there were only registrations that had not become a user')),
  erasedAt: schema.instant(),
  erased: schema.view(ErasedCountsView),
  remote: schema.view(
    RemoteErasureView,
    'The Solar Curtailment Service, which has no call that erases a user',
  ),
}) {}

/** Returns the receipt. Throws Problem not_found with `who` if `result` is null, registration_conflict if a registration is in flight. */
export function toReceipt(result: Erasure | BeingSent | null, who: string): ErasureReceiptView {
  const erasure = found(result, who);
  if ('registrationBeingSent' in erasure) {
    const registrationId = erasure.registrationBeingSent;
    const detail = `Registration ${registrationId} is being sent; erase once its response is known`;
    throw new Problem('registration_conflict', detail, { ids: { registrationId } });
  }
  const toDo =
    erasure.userId === null
      ? 'if one of the registrations may have reached it, ask the provider to look for the reference'
      : `ask the provider to erase ${erasure.userId}`;
  const detail = `The Solar Curtailment Service has no call to erase a user: ${toDo}.`;
  return ErasureReceiptView.of({ ...erasure, remote: { erased: false, detail } });
}
