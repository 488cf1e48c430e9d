// Runs the service with a clock shifted by CLOCK_SHIFT_MS. Timers are unchanged.
const shiftMs = Number(process.env.CLOCK_SHIFT_MS);
const trueNow = Date.now;
const now = (): number => trueNow() + shiftMs;

globalThis.Date = new Proxy(Date, {
  construct: (date, values: unknown[]) =>
    Reflect.construct(date, values.length === 0 ? [now()] : values) as Date,
  apply: (date) => new date(now()).toString(),
  get: (date, name) => (name === 'now' ? now : Reflect.get(date, name)),
});

// Imported after the shift, so that all modules see the shifted clock.
const { runService } = await import('./test-service.js');
const url = await runService({});
console.log(`it is ${new Date().toISOString()} here`);
process.send?.({ type: 'ready', url });
