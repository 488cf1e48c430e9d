import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { RemoteModule } from '../../remote/remote.module.js';
import { DeploymentMetrics } from './deployment-metrics.js';
import { StatusController } from './status.controller.js';
import { StatusStore } from './status.store.js';
import { StuckController } from './stuck.controller.js';

@Module({
  imports: [AuthModule, RemoteModule],
  controllers: [StatusController, StuckController],
  providers: [StatusStore, DeploymentMetrics],
})
export class StatusModule {}
