/** Returns why owners cannot see who invites them. False: they can, or this is no production. */
export const unnamedFault = (settings: {
  readonly NODE_ENV?: string | undefined;
  readonly BRAND_NAME?: string | undefined;
}): string | false =>
  settings.NODE_ENV === 'production' &&
  settings.BRAND_NAME === undefined &&
  'BRAND_NAME is not set: the pages for owners do not say who invites them';
