/** Settles with the result of `work`, or after `ms` with the result of `late`. Does not cancel `work`; ignores its later failure. */
// If the process was stopped, the timer fires before what has arrived meanwhile is read, so that is read first.
export async function within<T, L = undefined>(
  ms: number,
  work: Promise<T>,
  late: () => L = () => undefined as L,
): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined;
  let turn: NodeJS.Immediate | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(() => (turn = setImmediate(resolve)), ms).unref();
  }).then(late);
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
    clearImmediate(turn);
  }
}
