import { routerSettings } from '../../../src/config/routers.ts';
import { Routers } from '../../../src/gateway/connections/routers.ts';
import { LIMITS } from '../websocket/bare-gateway.ts';

/** As without ROUTERS. */
export const NO_ROUTERS = new Routers(routerSettings([]), LIMITS);
