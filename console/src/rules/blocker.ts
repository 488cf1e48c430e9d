import type { Status } from '../api/client.js';

const OF_DATABASE: readonly Status['reasons'][number]['code'][] = [
  'disk_full',
  'writes_fail',
  'tables_locked',
  'connections_used_up',
  'transaction_old',
];

/** Returns the sentences of the reasons that concern the database, the worst first. */
export const blockersOf = ({ reasons }: Status): string[] =>
  reasons.filter(({ code }) => OF_DATABASE.includes(code)).map(({ detail }) => detail);
