import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { RemoteModule } from '../remote/remote.module.js';
import { DeploymentMetrics } from './deployment-metrics.js';
import { Sampler } from './history/sampler.service.js';
import { ReplicasStore } from './signs/replicas.store.js';
import { SignsOfLife } from './signs/signs-of-life.service.js';
import { StatusController } from './status.controller.js';
import { StatusService } from './status.service.js';
import { StatusStore } from './status.store.js';

@Module({
  imports: [AuthModule, RemoteModule],
  controllers: [StatusController],
  providers: [StatusStore, StatusService, Sampler, DeploymentMetrics, ReplicasStore, SignsOfLife],
})
export class StatusModule {}
