/** The settings without which an owner cannot trust the pages, with what is wrong without them. */
const NEEDED = {
  BRAND_NAME: 'the pages for owners do not say who invites them',
  BRAND_PRIVACY_URL: 'the pages for owners do not lead to your privacy statement',
} as const;
type Needed = keyof typeof NEEDED;

type OwnerSettings = Readonly<Partial<Record<Needed | 'NODE_ENV', string>>>;

/** Returns what is wrong without this setting. False: it is set, or this is no production. */
export const missingForOwners = (name: Needed, settings: OwnerSettings): string | false =>
  settings.NODE_ENV === 'production' && settings[name] === undefined && `${name} is not set: ${NEEDED[name]}`;

export const allMissingForOwners = (settings: OwnerSettings): string[] =>
  (Object.keys(NEEDED) as Needed[]).flatMap((name) => missingForOwners(name, settings) || []);
