/** A refused or failed migration. The message is for operators. */
export class MigrationError extends Error {}
