/** The path of PUBLIC_URL, which the service writes into the page. Empty without one, and outside a browser. */
export const PREFIX =
  globalThis.document?.querySelector<HTMLMetaElement>('meta[name="path-prefix"]')?.content ?? '';
