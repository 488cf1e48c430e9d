import 'reflect-metadata';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Global, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AuthModule } from '../../../src/auth/auth.module.js';
import { AuthorisedRemote } from '../../../src/auth/authorised-remote.service.js';
import { Cipher } from '../../../src/platform/crypto/cipher.js';
import { Database } from '../../../src/platform/database/database.js';
import { Environment } from '../../../src/platform/env/environment.js';
import { readEnvironment } from '../../../src/platform/env/read-environment.js';
import { tally } from './fixture.js';
import { readSession } from '../remote/fixture.js';

/** As much of the platform as tokens need, so that three of these start quickly. */
@Global()
@Module({
  providers: [{ provide: Environment, useValue: readEnvironment(process.env) }, Database, Cipher],
  exports: [Environment, Database, Cipher],
})
class Ground {}

/** A replica that does nothing but call: `GET /100` makes a hundred calls at once and answers what became of them. */
@Module({ imports: [Ground, AuthModule] })
class Replica {}

const app = await NestFactory.createApplicationContext(Replica, { logger: ['error', 'fatal'] });
const remote = app.get(AuthorisedRemote);
const server = createServer((request, response) => {
  const calls = Array.from({ length: Number(request.url?.slice(1)) }, () => remote.send(readSession, 'user'));
  void Promise.all(calls).then((all) => response.end(JSON.stringify(tally(all))));
});
server.listen(0, '127.0.0.1', () => {
  process.send?.({ type: 'ready', url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
