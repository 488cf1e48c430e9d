/** Lists all faults of the configuration by variable name. Contains no values, since they may be secret. */
export class ConfigurationError extends Error {
  constructor(
    readonly problems: readonly string[],
    readonly warnings: readonly string[],
  ) {
    const listOf = (title: string, lines: readonly string[]): string => [title, ...lines].join('\n  - ');
    const also = warnings.length > 0 ? listOf('\nAlso:', warnings) : '';
    super(listOf('The configuration is not valid:', problems) + also);
  }
}
