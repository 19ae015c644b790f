import { didYouMean } from '../base/did-you-mean.ts';
import { BACKEND_SUFFIXES } from './backend-settings.ts';
import { removedVariable } from './removed-settings.ts';
import { otherNameFix } from './other-names.ts';
import { ENVIRONMENT_NAMES } from './setting-names.ts';
import type { UnknownVariable } from './settings-input.ts';
import { TRACES_ENDPOINT } from './traces-endpoint.ts';
import type { Environment } from './variable.ts';
import { settingRows } from './setting-rows.ts';

/** Beginnings of settings that hardly a graph, or another program in a pod of crier, has for a variable of its own. */
const PREFIXES = ['BACKEND_', 'DRAIN_', 'KAFKA_', 'MAX_', 'REDIS_', 'SCHEMA_REGISTRY_'];

/** Shorter names are too near to HOME, PATH and the like. */
const SHORTEST_NAME = 5;

/** Share of the characters by which a misspelt name may differ from the setting's. */
const MISSPELT_SHARE = 0.2;

/** What Kubernetes sets in each pod for a Service, for example of the name `kafka` (https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables). */
const SERVICE_LINK = /_SERVICE_HOST$|_SERVICE_PORT(_\w+)?$|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/;
const SERVICE_ADDRESS = /^(tcp|udp|sctp):\/\//;

const BACKEND_SETTING = new RegExp(`^(BACKEND_[A-Z0-9_]+)_(${BACKEND_SUFFIXES.join('|')})$`);

/**
 * The variables that begin as crier's settings do, or whose names are nearly theirs. They are warnings, not errors: after a rollback the
 * older version finds settings that only the newer one knows, and platforms set variables that nobody chose. `removedVariable` names the exceptions.
 */
export function findUnknownVariables(environment: Environment): UnknownVariable[] {
  const names = settingRows().map(({ name }) => name);
  const known = new Set(names);
  return Object.entries(environment).flatMap(([name, value]) => {
    if (!value || known.has(name) || name === TRACES_ENDPOINT || isServiceLink(name, value)) return [];
    const removed = removedVariable(name, value, environment, ENVIRONMENT_NAMES);
    if (removed) return [removed];
    const setting = BACKEND_SETTING.exec(name);
    if (setting) return withoutUrl(name, setting[1]!, environment);
    const capitals = name.toUpperCase();
    const isShort = name.length < SHORTEST_NAME;
    const fix = isShort && known.has(capitals) ? `; write ${capitals}` : otherNameFix(name);
    const isOurs = PREFIXES.some((prefix) => name.toUpperCase().startsWith(prefix));
    const near = fix || isShort ? '' : didYouMean(name, [...names, ...backendSettings(name)], MISSPELT_SHARE);
    if (!isOurs && near === '' && !(isShort && fix !== '')) return [];
    return [
      { message: `${name} is not a setting${fix || near || '; crier settings lists them'}`, isNear: near !== '' },
    ];
  });
}

/** Which headers a backend receives says nothing without its URL. */
function withoutUrl(name: string, backend: string, environment: Environment): UnknownVariable[] {
  if (environment[`${backend}_URL`]) return [];
  return [{ message: `${name} has no effect without ${backend}_URL`, isNear: true }];
}

/** The settings of the backend that a name may mean: `BACKEND_UAA_URl` may mean `BACKEND_UAA_URL`. */
function backendSettings(name: string): string[] {
  const [, backend] = /^(BACKEND_\w+?)_(?:U\w{0,3}|FORWARD_\w+)$/i.exec(name) ?? [];
  if (backend === undefined) return [];
  return BACKEND_SUFFIXES.map((suffix) => `${backend.toUpperCase()}_${suffix}`);
}

function isServiceLink(name: string, value: string): boolean {
  return SERVICE_LINK.test(name) || (name.endsWith('_PORT') && SERVICE_ADDRESS.test(value));
}
