/** The most bytes of headers that are read from a response. With undici's default of 16 kB, a response with more would count as lost. */
export const MAX_HEADER_BYTES = 64 * 1024;

/** Matches an error of OpenSSL, which has its reason between a thread, numbers, functions and a line of its source. */
const OF_OPENSSL = /^[\dA-F]+:error:[^:]*:[^:]*:[^:]*:([^:]*):.*$/s;

/** Returns the text of an error of undici or Node. It contains addresses and codes, but no content of requests or responses. */
export function describeConnectionError({ message, code }: Error & { readonly code?: string }): string {
  if (code === 'UND_ERR_HEADERS_OVERFLOW')
    return `the headers of the response are larger than ${MAX_HEADER_BYTES} bytes`;
  const text = message.replace(OF_OPENSSL, '$1');
  return code && !text.includes(code) ? `${text} (${code})` : text;
}
