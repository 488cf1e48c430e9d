import { PREFIX } from '../rules/prefix.js';
import { readProblem } from '#client/problem.js';
import { texts } from '../texts.js';
import { READ_MS } from './client.js';

/** The person who is signed in, as the service returns it. */
export interface SignedIn {
  /** Who acts, as the audit log names it. */
  readonly actor: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly expiresAt: string;
  readonly signIn: SignInBy;
}

/** How a person signs in: at the identity provider of the company, or with an API key. */
export type SignInBy = 'oidc' | 'key';

export type Entry =
  { readonly kind: 'in'; readonly who: SignedIn } | { readonly kind: 'out'; readonly signIn: SignInBy };

export const nameOf = ({ name }: SignedIn): string =>
  name === 'environment' ? texts.signIn.administrator : name;

const PATH = `${PREFIX}/console/session`;
const HEADERS = { 'x-console': '1' };

const send = (init: RequestInit = {}): Promise<Response> =>
  fetch(PATH, { headers: HEADERS, ...init, signal: AbortSignal.timeout(READ_MS) });

export async function readEntry(): Promise<Entry> {
  const response = await send();
  if (response.ok) return { kind: 'in', who: (await response.json()) as SignedIn };
  if (response.status !== 401) throw await readProblem(response);
  const { signIn } = (await response.json()) as { signIn?: SignInBy };
  return { kind: 'out', signIn: signIn ?? 'key' };
}

/** Exchanges the key for the session cookie. Returns null, or why there is no session. The key is not stored. */
export async function signInByKey(key: string): Promise<string | null> {
  const headers = { ...HEADERS, 'content-type': 'application/json' };
  const response = await send({ method: 'POST', headers, body: JSON.stringify({ key }) });
  // A browser that refuses the cookie says so to nobody.
  if (response.ok) return (await readEntry()).kind === 'in' ? null : texts.signIn.notKept;
  if (response.status === 401) return texts.signIn.unknownKey;
  if (response.status === 429) return texts.signIn.tooManyAttempts;
  throw await readProblem(response);
}

export async function signOut(): Promise<void> {
  const response = await send({ method: 'DELETE' });
  if (!response.ok) throw await readProblem(response);
}
