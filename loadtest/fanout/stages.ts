import type { CallFrame } from '../../src/ops/profiling/cpu-profile.ts';
import type { Call } from '../profile/call-tree.ts';

/** The stages of an event in crier, in the order of its path, with their names. */
export const STAGES = {
  kafka: 'Kafka client',
  rewrite: 'rewrite the record',
  decode: 'decode the record',
  rename: 'rename keys',
  route: 'route',
  printPayload: 'print the payload',
  redisOut: 'Redis out',
  redisIn: 'Redis in',
  parse: 'parse the payload',
  cursor: 'sign the cursor',
  share: 'deliver to members',
  execute: 'execute',
  printResult: 'print the result',
  write: 'frame and write',
  collect: 'garbage collection',
  native: 'native code, no JavaScript',
  other: 'other',
} as const;

type Stage = keyof typeof STAGES;

interface Rule {
  readonly stage: Stage;
  /** Matches a script's URL. */
  readonly file?: RegExp;
  readonly functionName?: RegExp;
}

/** The first matching rule gives the stage of a call. A call without a match has its caller's stage. */
export const RULES: readonly Rule[] = [
  { stage: 'collect', functionName: /^\(garbage collector\)$/ },
  { stage: 'native', functionName: /^\(program\)$/ },
  { stage: 'decode', file: /\/src\/kafka\/decoding\/record\.js$/ },
  { stage: 'rename', file: /\/src\/kafka\/decoding\/snake-case\.js$/ },
  { stage: 'printPayload', file: /\/src\/kafka\/decoding\/converter\.js$/, functionName: /^#parse$/ },
  { stage: 'rewrite', file: /\/src\/kafka\/decoding\/(key-rewriter|key-tree|converter)\.js$/ },
  { stage: 'route', file: /\/src\/graph\/router\.js$/ },
  { stage: 'kafka', file: /\/src\/kafka\/|\/node_modules\/kafkajs\// },
  { stage: 'redisOut', file: /\/src\/bus\/redis\/redis-bus\.js$/, functionName: /^(publish|#spread)$/ },
  { stage: 'redisOut', file: /\/src\/bus\/redis\/(redis-(server|fence|scripts|history|link)|command-writer)\.js$/ },
  {
    stage: 'redisIn',
    file: /\/src\/bus\/(?!flow\/|redis\/redis-bus\.js$)|\/node_modules\/redis-parser\/|\/ioredis\/built\/DataHandler\.js$/,
  },
  { stage: 'redisOut', file: /\/node_modules\/(ioredis|@ioredis|redis-errors|standard-as-callback)\// },
  { stage: 'parse', file: /\/src\/graph\/payload\.js$/ },
  { stage: 'cursor', file: /\/src\/gateway\/fanout\/resume\/cursor\.js$/ },
  { stage: 'write', file: /\/src\/gateway\/fanout\/outbox\/|\/node_modules\/ws\// },
  { stage: 'share', file: /\/src\/gateway\/fanout\// },
  { stage: 'printResult', file: /\/src\/graph\/projection\// },
  { stage: 'printResult', file: /\/src\/graph\/runtime\.js$/, functionName: /^#json$/ },
  { stage: 'execute', file: /\/src\/graph\/|\/node_modules\/graphql(-jit)?\// },
];

export function stageOf({ url: realUrl, functionName }: CallFrame): Stage | undefined {
  // The name of a build's folder contains a hash. A source has the path of its module.
  const url = realUrl.replace(/\/dist\/src-\w+\//, '/dist/src/').replace(/\.ts$/, '.js');
  return RULES.find((rule) => (rule.file?.test(url) ?? true) && (rule.functionName?.test(functionName) ?? true))?.stage;
}

export interface StageShare {
  readonly stage: Stage;
  readonly percent: number;
}

/** Each stage's share of the time, without stages of 0 %. */
export function sharesOf(root: Call): StageShare[] {
  const selfUs = new Map<Stage, number>();
  const add = (call: Call, callers: Stage): void => {
    const stage = stageOf(call.frame) ?? callers;
    selfUs.set(stage, (selfUs.get(stage) ?? 0) + call.selfUs);
    for (const callee of call.callees) add(callee, stage);
  };
  add(root, 'other');
  return (Object.keys(STAGES) as Stage[])
    .map((stage) => ({ stage, percent: ((selfUs.get(stage) ?? 0) / root.totalUs) * 100 }))
    .filter(({ percent }) => percent > 0);
}
