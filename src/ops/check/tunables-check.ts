import type { Config } from '../../config/config.ts';
import { createLog } from '../../base/log.ts';
import { idleSampling } from '../tracing/sampling.ts';
import { Tunables } from '../tunables/tunables.ts';
import { failed, ok, warning } from './finding.ts';
import type { Finding } from './finding.ts';

const EXAMPLE = '{ "LOG_LEVEL": "debug" }';

/** Reads TUNABLES_FILE as a pod does at its start. */
export async function checkTunables(config: Config): Promise<Finding[]> {
  if (config.TUNABLES_FILE === '') return [];
  const tunables = new Tunables({ config, log: createLog('silent'), idle: idleSampling(config) });
  try {
    await tunables.start();
    return [...contentFindings(tunables, config.TUNABLES_FILE), ...keyFindings(tunables)];
  } finally {
    await tunables.close();
  }
}

function contentFindings(tunables: Tunables, path: string): Finding[] {
  const { file, lastError, tunables: rows } = tunables.report();
  const message = lastError?.message ?? '';
  switch (file?.state) {
    case 'missing':
      return [failed(`TUNABLES_FILE: ${message}; correct the path, or mount the file`)];
    case 'bad':
      return [failed(`TUNABLES_FILE: ${message}; expected a readable file with a JSON object such as ${EXAMPLE}`)];
    case 'rejected':
      return message.split('\n').map((problem) => failed(`TUNABLES_FILE: ${path} is rejected: ${problem}`));
    default: {
      const names = rows.filter(({ source }) => source === 'file').map(({ name }) => name);
      const list = names.length === 0 ? '' : `: ${names.join(', ')}`;
      return [ok(`TUNABLES_FILE: ${path} sets ${names.length} setting${names.length === 1 ? '' : 's'}${list}`)];
    }
  }
}

function keyFindings(tunables: Tunables): Finding[] {
  return tunables.ignored.map(({ message, isNear }) =>
    (isNear ? failed : warning)(`TUNABLES_FILE: a key changes nothing: ${message}`),
  );
}
