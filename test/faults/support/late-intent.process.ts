import 'reflect-metadata';
import { randomUUID } from 'node:crypto';
import { AppModule } from '../../../src/app.module.js';
import { createApp } from '../../../src/create-app.js';
import { readEnvironment } from '../../../src/platform/env/read-environment.js';
import { ServiceLogger } from '../../../src/platform/logging/service-logger.js';
import { AuthorisedRemote } from '../../../src/auth/authorised-remote.service.js';
import { RegistrationSender } from '../../../src/users/registration-sender.service.js';
import { RegistrationsStore, type Claim } from '../../../src/users/registrations.store.js';
import { registerUserRequest } from '../../../src/users/users.client.js';

// The service with one bug: what is wanted is written down when the answer is there, not before the call.
const environment = readEnvironment(process.env);
const app = await createApp(AppModule.forRoot(environment), environment, new ServiceLogger(environment));
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
  return { status: 'uncertain' };
};

await app.listen(0, environment.HOST);
process.send?.({ type: 'ready', url: await app.getUrl() });
