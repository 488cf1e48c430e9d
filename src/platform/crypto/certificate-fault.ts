const UNKNOWN_AUTHORITY = [
  'CERT_SIGNATURE_FAILURE',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
];

/**
 * Returns the fault of a server's certificate and what to do about it, or undefined if `code` is not about a certificate. `setting`: the
 * setting in which the operator names the file with the certificate of an authority.
 */
export function certificateFault(code: string | undefined, setting: string): string | undefined {
  if (code === undefined) return undefined;
  if (UNKNOWN_AUTHORITY.includes(code))
    return `its certificate is not signed by a known authority (${code}): name the file with the certificate of its authority in ${setting}`;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return 'its certificate is for another host: use a host name that the certificate contains';
  if (code === 'CERT_HAS_EXPIRED') return 'its certificate has expired: renew it';
  if (code === 'CERT_NOT_YET_VALID')
    return 'its certificate is not valid yet: is the clock of this machine right?';
  return undefined;
}

/** Matches the alerts by which a server ends the handshake because of the client certificate. Newer releases of OpenSSL name them anew. */
const OF_CLIENT =
  /_ALERT_(?:(?:BAD_|UNSUPPORTED_)?CERTIFICATE(?:_EXPIRED|_REQUIRED|_REVOKED|_UNKNOWN)?|UNKNOWN_CA|ACCESS_DENIED)$/;

/**
 * Returns that the server does not accept our client certificate, or undefined if `code` is not such an alert. `setting`: the setting that
 * names its file.
 */
export function clientCertificateFault(code: string | undefined, setting: string): string | undefined {
  if (code === undefined || !OF_CLIENT.test(code)) return undefined;
  return `it does not accept our client certificate (${code}): is the one in ${setting} known to it, and valid?`;
}
