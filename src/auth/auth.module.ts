import { Module } from '@nestjs/common';
import { RemoteModule } from '../remote/remote.module.js';
import { AuthService } from './auth.service.js';
import { AuthorisedRemote } from './authorised-remote.service.js';
import { TenantTokens } from './tenant-tokens.service.js';
import { TokenRenewal } from './token-renewal.service.js';
import { TokenStore } from './token.store.js';
import { TenantTokenStrategy, UserTokenStrategy } from './user-token.strategy.js';

@Module({
  imports: [RemoteModule],
  providers: [
    TokenStore,
    TokenRenewal,
    TenantTokens,
    // The one line to change once the user access token (interface section 5.7) is known; see docs/remote.md.
    { provide: UserTokenStrategy, useClass: TenantTokenStrategy },
    AuthorisedRemote,
    AuthService,
  ],
  exports: [AuthorisedRemote, AuthService],
})
export class AuthModule {}
