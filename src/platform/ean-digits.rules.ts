/** Returns the numbers in a text that may be EANs: 18 digits, perhaps in groups as on a bill. */
export const eansIn = (text: string): string[] =>
  [...text.matchAll(/(?<!\d)[1-9](?:[\s.\p{Pd}]?\d){17}(?!\d)/gu)].map(([each]) => each.replace(/\D/g, ''));

/** Returns whether the last digit is the GS1 check digit (General Specifications, section 7.9): weights 3, 1, 3, … from the right. */
export function hasValidCheckDigit(ean: string): boolean {
  const data = [...ean.slice(0, -1)].map(Number);
  const sum = data.reduceRight(
    (total, digit, index) => total + digit * ((data.length - index) % 2 === 1 ? 3 : 1),
    0,
  );
  return (10 - (sum % 10)) % 10 === Number(ean.at(-1));
}

/** Returns whether a text that is not read as an EAN has another one than `ean`: the customer would be registered without it. */
export const hasOtherEan = (text: string, ean: string | null): boolean =>
  eansIn(text).some((each) => each !== ean && hasValidCheckDigit(each));
