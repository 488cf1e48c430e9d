import { Intake } from '../../../../src/campaigns/intake/intake.service.js';
import { runService } from './test-service.js';

// The bug: reads the whole file before it reads the first row.
const url = await runService({
  prepare: (app) => {
    const intake = app.get(Intake);
    const receive = intake.receive.bind(intake);
    intake.receive = async (bytes, ...rest) => {
      const parts: Buffer[] = [];
      for await (const part of bytes) parts.push(part);
      const whole = Buffer.concat(parts);
      return receive(
        (async function* () {
          yield whole;
        })(),
        ...rest,
      );
    };
  },
});
process.send?.({ type: 'ready', url });
