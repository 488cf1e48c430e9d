/** Returns `count` request bodies, each for another customer with one grid location. Customers are numbered from `from`. */
export const userBodies = (count: number, from: number): string[] =>
  Array.from({ length: count }, (_, nth) => {
    const index = from + nth;
    const ean = withCheckDigit(`54100000${String(index).padStart(9, '0')}`);
    return `{"tenantReference":"customer-${index}","gridLocations":[{"ean":${ean}}]}`;
  });

/** Appends the GS1 check digit, because the service logs every wrong check digit. */
function withCheckDigit(digits: string): string {
  const sum = [...digits].reduceRight(
    (total, digit, index) => total + Number(digit) * ((digits.length - index) % 2 === 1 ? 3 : 1),
    0,
  );
  return `${digits}${(10 - (sum % 10)) % 10}`;
}
