/** The fields of a row of customers. Each is the name of its column, too. */
export const FIELDS = [
  'tenantReference',
  'ean',
  'brand',
  'locale',
  'expectedInverters',
  'eanConfirmed',
] as const;
export type Field = (typeof FIELDS)[number];

/** The names that people give to these columns in English, Dutch, French and German, without what `plain` removes. */
const NAMES: Readonly<Record<Field, readonly string[]>> = {
  tenantReference: [
    ...['tenantreference', 'reference', 'customer', 'customernumber', 'customerno', 'customerid'],
    ...['clientnumber', 'customerreference', 'klantnummer', 'klantnr', 'klant', 'klantid', 'klantreferentie'],
    ...['referentie', 'relatienummer', 'client', 'numeroclient', 'noclient', 'referenceclient'],
    ...['numerodeclient', 'idclient', 'kundennummer', 'kundennr', 'kunde', 'kundenid', 'referenz'],
    'kundenreferenz',
  ],
  ean: [
    ...['ean', 'eancode', 'eannumber', 'ean18', 'eannummer', 'eannr', 'aansluiting', 'aansluitingsnummer'],
    ...['codeean', 'numeroean', 'pointdeprelevement', 'gsrn', 'zaehlpunkt', 'zahlpunkt', 'gridlocation'],
  ],
  brand: [
    ...['brand', 'merk', 'marque', 'marke', 'inverterbrand', 'merkomvormer', 'omvormermerk', 'hersteller'],
    ...['fabrikant', 'fabricant', 'marqueonduleur', 'wechselrichter', 'omvormer', 'onduleur', 'inverter'],
  ],
  locale: ['locale', 'language', 'lang', 'taal', 'langue', 'sprache'],
  expectedInverters: [
    ...['expectedinverters', 'inverters', 'numberofinverters', 'aantalomvormers', 'omvormers'],
    ...['nombredonduleurs', 'onduleurs', 'anzahlwechselrichter', 'wechselrichteranzahl'],
  ],
  eanConfirmed: ['eanconfirmed', 'eanbevestigd', 'eanconfirme', 'eanbestaetigt'],
};

const plain = (name: string): string =>
  name
    .normalize('NFD')
    .replace(/[^\p{L}\p{N}]/gu, '')
    .toLowerCase();

/** Returns the field that a column of this name probably is. Normalising a long sequence of marks takes quadratic time. */
export function proposedField(name: string): Field | undefined {
  const known = name.length > 100 ? '' : plain(name);
  return FIELDS.find((each) => NAMES[each].includes(known));
}
