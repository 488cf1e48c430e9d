import { waitPatiently } from '../patient-database.js';
import { runService } from './test-service.js';

const url = await runService({ prepare: waitPatiently });
process.send?.({ type: 'ready', url });
