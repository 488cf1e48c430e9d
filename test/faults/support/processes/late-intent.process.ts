import { randomUUID } from 'node:crypto';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AuthorisedRemote } from '../../../../src/auth/authorised-remote.service.js';
import { RegistrationSender } from '../../../../src/users/registration/send-registrations.service.js';
import { RegistrationsStore } from '../../../../src/users/registration/registrations.store.js';
import type { Claim } from '../../../../src/users/registration/registration.rules.js';
import { registerUserRequest } from '../../../../src/users/remote/users.client.js';
import { runService } from './test-service.js';

function openIntentsAfterCalls(app: NestFastifyApplication): void {
  const store = app.get(RegistrationsStore);
  const remote = app.get(AuthorisedRemote);
  const openIntent = store.openIntent.bind(store);
  store.openIntent = async (request): Promise<Claim> => ({
    ...request,
    id: randomUUID(),
    attempts: 1,
    leaseToken: randomUUID(),
  });
  app.get(RegistrationSender).send = async (claim) => {
    await remote.send(registerUserRequest(claim), 'tenant');
    await openIntent(claim);
    return null;
  };
}

const url = await runService({ prepare: openIntentsAfterCalls });
process.send?.({ type: 'ready', url });
