/** Decodes a file of an operator: UTF-8, or UTF-16 with a byte order mark, in which PowerShell writes. Omits the byte order mark. */
export const decodeText = (bytes: Uint8Array): string =>
  new TextDecoder(bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-8').decode(bytes);
