import { subjectsOf, type PersonalData } from '../platform/database/personal-data.js';

/** Erases responses and errors: they may quote the request, the address of the receiver or the event. */
export const ERASE_WEBHOOK_RESPONSES = `
  UPDATE webhook_deliveries SET last_answer = NULL, last_error = NULL, previous_attempts = NULL
  WHERE subject = ANY ($1::text[]) AND coalesce(last_answer, last_error, previous_attempts::text) IS NOT NULL
  RETURNING id`;

export const WEBHOOK_RESPONSES: PersonalData = {
  table: 'webhook_deliveries',
  where: 't.subject = ANY ($1::text[])',
  order: 't.position, t.id',
  parameter: subjectsOf,
  erase: async (tx, person) => (await tx.query(ERASE_WEBHOOK_RESPONSES, [subjectsOf(person)])).length,
};
