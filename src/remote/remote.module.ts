import { Module } from '@nestjs/common';
import { Remote } from './remote.service.js';

@Module({ providers: [Remote], exports: [Remote] })
export class RemoteModule {}
