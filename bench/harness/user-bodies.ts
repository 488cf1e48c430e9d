/** Bodies of so many registrations, each of another customer with one grid location; `from` makes them new. */
export const userBodies = (count: number, from: number): string[] =>
  Array.from({ length: count }, (_, nth) => {
    const index = from + nth;
    const ean = withCheckDigit(`54100000${String(index).padStart(9, '0')}`);
    return `{"tenantReference":"customer-${index}","gridLocations":[{"ean":${ean}}]}`;
  });

/** As GS1 computes it; a wrong one would be a line in the log for each. */
function withCheckDigit(digits: string): string {
  const sum = [...digits].reduceRight(
    (total, digit, index) => total + Number(digit) * ((digits.length - index) % 2 === 1 ? 3 : 1),
    0,
  );
  return `${digits}${(10 - (sum % 10)) % 10}`;
}
