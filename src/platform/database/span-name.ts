/** Names a statement after its operation and its table, such as `UPDATE users`. The name never contains a value. */
export function spanNameOf(text: string): string {
  const [operation = 'SQL'] = /\w+/.exec(text) ?? [];
  // Skips the FROM of extract(epoch FROM …).
  const [, table] = /(?<!\bepoch )\b(?:FROM|INTO|UPDATE)\s+(?:"public"\.)?"?([a-z_]+)/.exec(text) ?? [];
  return [operation, table].filter(Boolean).join(' ');
}
