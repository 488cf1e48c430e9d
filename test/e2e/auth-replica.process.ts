import 'reflect-metadata';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AuthModule } from '../../src/auth/auth.module.js';
import { AuthorisedRemote } from '../../src/auth/authorised-remote.service.js';
import { readEnvironment } from '../../src/platform/env/read-environment.js';
import { PlatformModule } from '../../src/platform/platform.module.js';
import { tally } from './auth-fixture.js';
import { readSession } from './remote-fixture.js';

/** A replica that does nothing but call: `GET /100` makes a hundred calls at once and answers what became of them. */
@Module({ imports: [PlatformModule.forRoot(readEnvironment(process.env)), AuthModule] })
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
