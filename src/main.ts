import 'reflect-metadata';
import { resolve } from 'node:path';
import { startService } from './start-service.js';

await startService(process.env, resolve('.data'));
