import { TrustedProxies } from '../config/addresses/client-address.ts';
import type { AddressProblem } from '../config/addresses/client-address.ts';
import type { SettingNames } from '../config/setting-names.ts';
import { LogWindow } from '../base/log.ts';
import type { RoleServices } from './services.ts';

const LOG_WINDOW_MS = 60_000;

const messages = ({ TRUSTED_PROXIES }: SettingNames): Readonly<Record<AddressProblem, string>> => ({
  missing: `a proxy of ${TRUSTED_PROXIES} sent no X-Forwarded-For: its clients count as one address`,
  unreadable: `a proxy of ${TRUSTED_PROXIES} wrote no address into X-Forwarded-For: its clients count as one address`,
  ignored: `an address was refused, and its peer sends X-Forwarded-For: if the peer is a load balancer, name it in ${TRUSTED_PROXIES}; until then all of its clients count as one address`,
});

export function createTrustedProxies({ config, log }: Pick<RoleServices, 'config' | 'log'>): TrustedProxies {
  const texts = messages(config.names);
  const window = new LogWindow(LOG_WINDOW_MS);
  return new TrustedProxies(config.TRUSTED_PROXIES, (problem, peer) =>
    window.run(problem, (suppressed) => log.warn({ peer, suppressed }, texts[problem])),
  );
}
