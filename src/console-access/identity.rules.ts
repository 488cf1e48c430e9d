import { groupsInClaim } from './group-scopes.rules.js';

export interface Identity {
  readonly subject: string;
  readonly name: string;
  readonly groups: readonly string[];
  /** The claim that the provider sent instead of the groups, because the user has too many; null if the groups are complete. */
  readonly leftOut: string | null;
}

type Claims = Readonly<Record<string, unknown>>;

/** OpenID Connect allows a subject of at most this length. */
const MAX_SUBJECT_LENGTH = 255;

/** Throws if an ID token has a claim that the library does not check: a time of issue in the future, or no subject. */
export function requireSoundToken(
  { sub, iat }: { readonly sub: string; readonly iat: number },
  nowSeconds: number,
  toleranceSeconds: number,
): void {
  if (iat > nowSeconds + toleranceSeconds)
    throw new Error(`the ID token claim "iat" is ${Math.round(iat - nowSeconds)} s in the future`);
  if (sub.trim() === '' || sub.length > MAX_SUBJECT_LENGTH || /\p{Cc}/u.test(sub))
    throw new Error(`the ID token claim "sub" must be a text of 1 to ${MAX_SUBJECT_LENGTH} characters`);
}

/** Reads who the user is. `info`: the response about the user, if it was requested; it may have claims that the token lacks. */
export function identityOf(subject: string, token: Claims, info: Claims): Identity {
  const all = { ...token, ...info };
  const groups = [...new Set([...groupsInClaim(token.groups), ...groupsInClaim(info.groups)])];
  const name = [all.name, all.preferred_username].find(
    (each) => typeof each === 'string' && each.trim() !== '',
  );
  return {
    subject,
    name: (typeof name === 'string' ? name : subject).slice(0, 100),
    groups,
    leftOut: groups.length > 0 ? null : leftOutOf(all),
  };
}

/** Microsoft Entra ID sends at most some 200 groups in a token. For more, it names a source of the claim, or says that there are groups. */
function leftOutOf({ _claim_names: names, hasgroups }: Claims): string | null {
  if (typeof names === 'object' && names !== null && Object.hasOwn(names, 'groups')) return '_claim_names';
  return hasgroups === true || hasgroups === 'true' ? 'hasgroups' : null;
}
