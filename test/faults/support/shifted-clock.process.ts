/** The service on a machine whose clock is off by CLOCK_SHIFT_MS; timers go on as they are, as they do there. */
const shiftMs = Number(process.env.CLOCK_SHIFT_MS);
const trueNow = Date.now;
const now = (): number => trueNow() + shiftMs;

globalThis.Date = new Proxy(Date, {
  construct: (date, values: unknown[]) =>
    Reflect.construct(date, values.length === 0 ? [now()] : values) as Date,
  apply: (date) => new date(now()).toString(),
  get: (date, name) => (name === 'now' ? now : Reflect.get(date, name)),
});

// Only now, so that whatever keeps the class or its function keeps these.
const { runService } = await import('./test-service.js');
const url = await runService({});
console.log(`it is ${new Date().toISOString()} here`);
process.send?.({ type: 'ready', url });
