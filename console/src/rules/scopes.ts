import type { Schemas } from '#client/client.js';

export type Scope = Schemas['NewApiKey']['scopes'][number];
/** Says whether the person who is signed in has a scope. */
export type May = (scope: Scope) => boolean;

/** `admin` includes all other scopes. */
export const mayIn =
  (scopes: readonly string[]): May =>
  (scope) =>
    scopes.includes(scope) || scopes.includes('admin');
