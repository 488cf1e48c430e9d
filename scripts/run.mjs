// The entry point of `npm start`, `npm test` and other npm scripts. Imports no package, since a fresh clone has none.
const NEEDED = [20, 19];

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < NEEDED[0] || (major === NEEDED[0] && minor < NEEDED[1])) {
  console.error(
    `PV Onboarding needs Node ${NEEDED.join('.')} or newer; this is ${process.versions.node} (${process.execPath}).`,
  );
  process.exit(1);
}

const { runCommand } = await import('./commands.mjs');
await runCommand(process.argv[2] ?? '', process.argv.slice(3));
