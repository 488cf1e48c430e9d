/** Prints that `what` has begun. Returns a function that prints how long it took. On a terminal, counts the seconds meanwhile. */
export function progress(what) {
  const startedAt = Date.now();
  const seconds = () => ((Date.now() - startedAt) / 1_000).toFixed(0);
  const { stdout } = process;
  if (!stdout.isTTY) {
    console.log(`${what} …`);
    return () => console.log(`${what}: done after ${seconds()} s`);
  }
  const draw = () => stdout.write(`\r${what} … ${seconds()} s`);
  draw();
  const timer = setInterval(draw, 1_000);
  return () => {
    clearInterval(timer);
    draw();
    stdout.write('\n');
  };
}
