import { Module } from '@nestjs/common';
import { RemoteModule } from '../remote/remote.module.js';
import { DriftReports } from './drift-reports.service.js';

@Module({ imports: [RemoteModule], providers: [DriftReports] })
export class DriftModule {}
