/** Settles with the result of `work`, or after `ms` with the result of `late`. Does not cancel `work`; ignores its later failure. */
export async function within<T, L = undefined>(
  ms: number,
  work: Promise<T>,
  late: () => L = () => undefined as L,
): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms).unref())).then(late);
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
