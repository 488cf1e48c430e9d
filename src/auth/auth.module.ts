import { Module } from '@nestjs/common';
import { RemoteModule } from '../remote/remote.module.js';
import { AuthorisedRemote } from './authorised-remote.service.js';
import { BearerTokens } from './bearer-tokens.js';
import { TenantTokens } from './tenant-tokens.service.js';
import { TokenStore } from './token.store.js';

@Module({
  imports: [RemoteModule],
  providers: [
    TokenStore,
    TenantTokens,
    // Replace this binding when the interface describes the user access token (section 5.7): see src/remote/README.md.
    { provide: BearerTokens, useExisting: TenantTokens },
    AuthorisedRemote,
  ],
  exports: [AuthorisedRemote, TenantTokens, TokenStore],
})
export class AuthModule {}
