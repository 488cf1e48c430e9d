/** The most bytes of headers that are read from a response. With undici's default of 16 kB, a response with more would count as lost. */
export const MAX_HEADER_BYTES = 64 * 1024;

/** Returns the text of an error of undici or Node. It contains addresses and codes, but no content of requests or responses. */
export function describeConnectionError({ message, code }: Error & { readonly code?: string }): string {
  if (code === 'UND_ERR_HEADERS_OVERFLOW')
    return `the headers of the response are larger than ${MAX_HEADER_BYTES} bytes`;
  return code && !message.includes(code) ? `${message} (${code})` : message;
}
