import { Controller, Delete, Param } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { CurrentKey, Operation } from '../../access/operation.decorator.js';
import { actorOf, type Principal } from '../../access/scopes.js';
import { ApiProblems } from '../../platform/openapi/api-problems.decorator.js';
import { ParseUuid } from '../../platform/http/parameters.js';
import { ErasuresStore } from './erasures.store.js';
import { ErasureReceiptView, toReceipt } from './receipt.view.js';

@ApiTags('Users')
@Controller('users')
export class ErasureController {
  constructor(private readonly erasures: ErasuresStore) {}

  @Delete(':userId')
  @Operation('users:erase', {
    confirm:
      'this erases all personal data stored here for {tenantReference}: names, email, EANs, metadata, registrations and inverter ids. Its sessions are no longer watched. This cannot be undone.',
    summary: 'Erase the personal data of a user',
    description:
      'Erases permanently, in this service: reference, names, email, EANs, metadata, registrations, stored responses and inverter ids. ' +
      'Its sessions are no longer watched. Counts and states stay, without personal data. The remote service is not informed, since ' +
      'its interface has no such call. After the response, nothing that begins to be sent carries the reference; a webhook or a page that ' +
      'is already under way may. The request may be repeated.',
  })
  @ApiOkResponse({ type: ErasureReceiptView, description: 'The receipt, the same for every repetition' })
  @ApiProblems('registration_conflict')
  async eraseUser(@Param('userId', ParseUuid) userId: string, @CurrentKey() key: Principal) {
    return toReceipt(await this.erasures.eraseUser(userId, actorOf(key)), `user ${userId}`);
  }
}
