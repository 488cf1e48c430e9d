import { Module } from '@nestjs/common';
import { RemoteModule } from '../remote/remote.module.js';
import { AuthorisedRemote } from './authorised-remote.service.js';
import { UserTokenStrategy } from './bearer-tokens.js';
import { CredentialsProbe } from './credentials-probe.service.js';
import { TenantTokens } from './tenant-tokens.service.js';
import { TokenRequest } from './token-request.service.js';
import { TokenStore } from './token.store.js';

@Module({
  imports: [RemoteModule],
  providers: [
    TokenStore,
    TokenRequest,
    TenantTokens,
    // Replace this binding when the interface describes the user access token (section 5.7): see docs/remote.md.
    { provide: UserTokenStrategy, useExisting: TenantTokens },
    AuthorisedRemote,
    CredentialsProbe,
  ],
  exports: [AuthorisedRemote, CredentialsProbe, TokenStore],
})
export class AuthModule {}
