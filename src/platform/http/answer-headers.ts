/**
 * On every answer of ours. Answers are about people and may hold a startUrl or a key: nobody on the way keeps them, nothing renders
 * or frames them, and no address goes on to another site.
 */
export const ANSWER_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};
