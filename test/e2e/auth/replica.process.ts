import 'reflect-metadata';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Global, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AuthModule } from '../../../src/auth/auth.module.js';
import { AuthorisedRemote } from '../../../src/auth/authorised-remote.service.js';
import { Cipher } from '../../../src/platform/crypto/cipher.js';
import { Database } from '../../../src/platform/database/database.js';
import { Listener } from '../../../src/platform/database/connection/listen.js';
import { Environment } from '../../../src/platform/env/environment.js';
import { readEnvironment } from '../../../src/platform/env/read-environment.js';
import { Metrics } from '../../../src/platform/metrics/metrics.js';
import { RecentRequests } from '../../../src/platform/metrics/recent-requests.js';
import { tally } from './fixture.js';
import { readSession } from '../remote/fixture.js';

/** Provides only what AuthModule needs, so that three replicas start quickly. */
@Global()
@Module({
  providers: [
    { provide: Environment, useValue: readEnvironment(process.env) },
    Database,
    Cipher,
    Listener,
    Metrics,
    RecentRequests,
  ],
  exports: [Environment, Database, Cipher, Listener, Metrics, RecentRequests],
})
class Ground {}

/** A replica that only makes remote calls. `GET /100` starts 100 calls at once and returns the number of calls per outcome. */
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
