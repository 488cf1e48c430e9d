import { Injectable } from '@nestjs/common';
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  ClientSecretBasic,
  ClientSecretPost,
  clockTolerance,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
  type ClientAuth,
  type Configuration,
} from 'openid-client';
import { Environment } from '../platform/env/environment.js';
import { proxiedFetch } from '../platform/http-client/proxied.js';
import { identityOf, requireSoundToken, type Identity } from './identity.rules.js';
import { groupsInClaim } from './group-scopes.rules.js';

const TIMEOUT_SECONDS = 10;
/** How long the provider's description is used. A user who is sent to an endpoint that has moved does not come back, so no callback fails. */
const DESCRIPTION_MS = 600_000;
/** The accepted difference between the clock of the provider and ours. */
const CLOCK_TOLERANCE_SECONDS = 30;

/** The values of one sign-in that are sent to the identity provider or compared with its response. */
export interface SignInFlow {
  readonly state: string;
  readonly nonce: string;
  readonly pkceCodeVerifier: string;
}

/** Signs users in at the identity provider: OpenID Connect, code flow with PKCE. */
@Injectable()
export class IdentityProvider {
  private configuration: Promise<Configuration> | undefined;
  private readAt = -Infinity;

  constructor(private readonly environment: Environment) {}

  /** Begins a sign-in. Returns the address at the provider, to which the browser goes, and the flow. */
  async begin(redirectUri: string): Promise<{ readonly url: URL; readonly flow: SignInFlow }> {
    const configuration = await this.discover();
    const flow = {
      state: randomState(),
      nonce: randomNonce(),
      pkceCodeVerifier: randomPKCECodeVerifier(),
    };
    // Some providers send groups only for the scope `groups`. Others do not know this scope and would refuse it.
    const hasGroups = configuration.serverMetadata().scopes_supported?.includes('groups');
    const url = buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      scope: hasGroups ? 'openid profile groups' : 'openid profile',
      state: flow.state,
      nonce: flow.nonce,
      code_challenge: await calculatePKCECodeChallenge(flow.pkceCodeVerifier),
      code_challenge_method: 'S256',
    });
    return { url, flow };
  }

  /** Ends a sign-in. `callback`: the address with which the browser came back. Throws if it does not belong to the flow. */
  finish(callback: URL, flow: SignInFlow): Promise<Identity> {
    return this.identify(callback, flow).catch(this.forget);
  }

  private async identify(callback: URL, { state, nonce, pkceCodeVerifier }: SignInFlow): Promise<Identity> {
    const configuration = await this.discover();
    const tokens = await authorizationCodeGrant(configuration, callback, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier,
      idTokenExpected: true,
    });
    const claims = tokens.claims()!;
    requireSoundToken(claims, Date.now() / 1_000, CLOCK_TOLERANCE_SECONDS);
    // Many providers put the groups into the response about the user only, to keep the token small, and some leave an empty list in it.
    const { userinfo_endpoint } = configuration.serverMetadata();
    const others =
      groupsInClaim(claims.groups).length === 0 && userinfo_endpoint !== undefined
        ? await fetchUserInfo(configuration, tokens.access_token, claims.sub)
        : {};
    return identityOf(claims.sub, claims, others);
  }

  /** Reads the provider's description, unless it was read within DESCRIPTION_MS. */
  private discover(): Promise<Configuration> {
    const now = performance.now();
    if (now - this.readAt < DESCRIPTION_MS && this.configuration !== undefined) return this.configuration;
    this.readAt = now;
    return (this.configuration = this.readConfiguration().catch(this.forget));
  }

  /** After a failure, the description and the keys are read again: the provider may have changed them. */
  private readonly forget = (error: unknown): never => {
    this.configuration = undefined;
    throw error;
  };

  private async readConfiguration(): Promise<Configuration> {
    const { CONSOLE_OIDC_ISSUER, CONSOLE_OIDC_CLIENT_ID, CONSOLE_OIDC_CLIENT_SECRET } = this.environment;
    const issuer = new URL(CONSOLE_OIDC_ISSUER!);
    const client = { [clockTolerance]: CLOCK_TOLERANCE_SECONDS };
    // A provider that lists no methods supports client_secret_basic.
    const authenticate: ClientAuth = (server, ...request) => {
      const methods = server.token_endpoint_auth_methods_supported ?? [];
      const method = methods.includes('client_secret_post') ? ClientSecretPost : ClientSecretBasic;
      method(CONSOLE_OIDC_CLIENT_SECRET)(server, ...request);
    };
    // The environment allows http only on the loopback or outside production.
    const execute = [
      enableNonRepudiationChecks,
      ...(issuer.protocol === 'http:' ? [allowInsecureRequests] : []),
    ];
    const throughProxy = proxiedFetch(this.environment, 'the identity provider');
    const options = { execute, timeout: TIMEOUT_SECONDS, [customFetch]: throughProxy };
    return discovery(issuer, CONSOLE_OIDC_CLIENT_ID!, client, authenticate, options);
  }
}
