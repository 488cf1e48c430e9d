/** The flags of the Node that runs Jest, and of Jest's workers. */
export const NODE_FLAGS = [
  // Nest consists of ES modules, which Jest loads only with this flag.
  '--experimental-vm-modules',
  '--disable-warning=ExperimentalWarning',
  // With Node's 16 MB, a fifteenth of the CPU time of a test run goes to the collection of young objects.
  '--max-semi-space-size=64',
];
