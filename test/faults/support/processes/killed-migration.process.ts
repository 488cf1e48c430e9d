import { migrate } from '../../../../src/platform/database/migrations/migrate.js';
import { watchStatements } from '../statements.js';

// Migrates DATABASE_URL, and kills itself at the phase KILL_PHASE of statement KILL_STATEMENT. APART=true seeds a bug: the record of a
// migration, its script and the end of the record are transactions of their own.
const { DATABASE_URL = '', KILL_STATEMENT, KILL_PHASE, APART } = process.env;

watchStatements({
  replace: (text) => (APART === 'true' && /^(BEGIN|COMMIT)\b/.test(text) ? 'SELECT' : text),
  reached: (phase, count) => {
    if (phase === KILL_PHASE && String(count) === KILL_STATEMENT) process.kill(process.pid, 'SIGKILL');
  },
});
process.send?.({ type: 'ready', url: '' });
await migrate(DATABASE_URL);
process.exit();
