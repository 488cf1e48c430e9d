import 'reflect-metadata';
import { resolve } from 'node:path';
import { startService } from '../../../src/start-service.js';

process.on('SIGUSR2', () => {
  throw new Error('nobody catches this');
});
process.on('SIGHUP', () => void Promise.reject(new Error('nobody handles this')));

await startService(process.env, resolve('.data'));
