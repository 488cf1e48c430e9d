/**
 * Headers of every response. Responses contain personal data and may contain a startUrl or a key: no cache stores them, no browser renders
 * or frames them, and no URL is passed to another site as a referrer.
 */
export const ANSWER_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};
