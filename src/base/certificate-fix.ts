/**
 * What fixes a TLS connection that failed for the server's certificate; '': the certificate is not the reason.
 * @param reason message of the failure, which OpenSSL or Node wrote
 * @param server `the brokers`
 * @param setting the name of the setting that names the server
 * @param authorities the name of the setting that names the authorities
 */
export function certificateFix(reason: string, server: string, setting: string, authorities: string): string {
  if (/altnames/.test(reason)) return `name ${server} in ${setting} as the certificate does`;
  if (/expired/.test(reason)) return `renew the certificate of ${server}`;
  if (/certificate/.test(reason))
    return `if the authority of this certificate is your own, name the PEM file of the authority in ${authorities}`;
  return '';
}
