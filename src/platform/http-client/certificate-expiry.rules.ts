import type { X509Certificate } from 'node:crypto';

type Certificate = Pick<X509Certificate, 'validFrom' | 'validTo'>;

const MONTH_MS = 30 * 86_400_000;

/** Returns whether a certificate expires within 30 days or, if that is shorter, within a third of its lifetime. */
export function expiresSoon({ validFrom, validTo }: Certificate, now: Date): boolean {
  const lifetimeMs = Date.parse(validTo) - Date.parse(validFrom);
  return Date.parse(validTo) - now.getTime() < Math.min(MONTH_MS, lifetimeMs / 3);
}

/**
 * Returns when a file of certificates expires. A client certificate is used with its whole chain, so the first that expires decides. A file
 * of authorities may also contain expired ones, which are ignored if there are others.
 */
export function expiryOf(certificates: readonly Certificate[], kind: 'authority' | 'client', now: Date) {
  const valid = certificates.filter(({ validTo }) => Date.parse(validTo) > now.getTime());
  const [first] = [...(kind === 'authority' && valid.length > 0 ? valid : certificates)].sort(
    (a, b) => Date.parse(a.validTo) - Date.parse(b.validTo),
  );
  return { expiresAt: new Date(first!.validTo).toISOString(), isExpiring: expiresSoon(first!, now) };
}
