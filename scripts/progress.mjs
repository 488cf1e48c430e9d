/** Says what takes long, and how long it took; on a terminal with the seconds counting. */
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
