/** Prints to stderr that `what` has begun. Returns a function that prints the duration. On a terminal, shows the seconds meanwhile. */
export function progress(what) {
  const startedAt = Date.now();
  const seconds = () => ((Date.now() - startedAt) / 1_000).toFixed(0);
  const { stderr } = process;
  if (!stderr.isTTY) {
    console.error(`${what} …`);
    return () => console.error(`${what}: done after ${seconds()} s`);
  }
  const draw = () => stderr.write(`\r${what} … ${seconds()} s`);
  draw();
  const timer = setInterval(draw, 1_000);
  return () => {
    clearInterval(timer);
    draw();
    stderr.write('\n');
  };
}

/** Returns an error that is printed without its stack: the message contains all that the user needs. */
export const forPeople = (message) => Object.assign(new Error(message), { isForPeople: true });
