/** Returns whether these first bytes are those of a workbook: ZIP, or the format of older versions of Excel and of encrypted files. */
export const isWorkbook = (bytes: Uint8Array): boolean => isZip(bytes) || isCompound(bytes);

export const isZip = (bytes: Uint8Array): boolean => startsWith(bytes, [0x50, 0x4b]);
/** Returns whether these bytes begin a file of an older version of Excel, or an encrypted one. */
export const isCompound = (bytes: Uint8Array): boolean => startsWith(bytes, [0xd0, 0xcf, 0x11, 0xe0]);
const startsWith = (bytes: Uint8Array, magic: readonly number[]): boolean =>
  magic.every((byte, index) => bytes[index] === byte);
