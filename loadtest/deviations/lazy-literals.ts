/**
 * One `Proxy.lazy` literal of 50 keys: the story's expansion (a chain of conditionals, a Proxy with `get`) against that of crier's
 * plugin (a switch, a class as handler).
 *
 *     npm run -s build:test && taskset -c 0 node --max-semi-space-size=16 dist/loadtest/deviations/lazy-literals.js
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext, runInThisContext } from 'node:vm';
import { transformSync } from '@babel/core';
import { median } from '../median.ts';

const KEYS = Array.from({ length: 50 }, (_, i) => `loader_by_key_${i}`);
const OBJECTS = 5000;
const ROUNDS = 31;

type Literal = Readonly<Record<string, object>>;
type Make = (call: (key: string) => object) => Literal;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const story = `((call) => {
  const notConstructed = Symbol.for('propNotConstructed');
  const target = { ${KEYS.map((key) => `${key}: notConstructed`).join(', ')} };
  const select = (key) => ${KEYS.map((key) => `key === '${key}' ? call('${key}') : `).join('')}undefined;
  return new Proxy(target, {
    get(target, key) {
      const value = target[key];
      return value === notConstructed ? (target[key] = select(key)) : value;
    },
  });
})`;
const literal = `const make = (call) => Proxy.lazy({ ${KEYS.map((key) => `${key}: call('${key}')`).join(', ')} });`;
const { code } = transformSync(literal, {
  plugins: ['./plugins/babel-plugin-proxy-lazy/index.js'],
  configFile: false,
  babelrc: false,
})!;
const makers: Readonly<Record<string, Make>> = {
  'the story: conditionals': runInThisContext(story) as Make,
  'crier: switch, class': runInThisContext(`${code}\nmake;`) as Make,
};

const call = (key: string) => ({ key });
const uses: Readonly<Record<string, (literal: Literal) => unknown>> = {
  'nothing read': () => undefined,
  'first key read': (made) => made[KEYS[0]!],
  'last key read': (made) => made[KEYS.at(-1)!],
  'all keys read': (made) => KEYS.map((key) => made[key]),
};

function microsecondsOf(make: Make, use: (literal: Literal) => unknown): number {
  const start = performance.now();
  for (let i = 0; i < OBJECTS; i++) use(make(call));
  return ((performance.now() - start) * 1000) / OBJECTS;
}

function bytesOf(make: Make): number {
  const kept: unknown[] = Array.from({ length: OBJECTS }, () => null);
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let i = 0; i < OBJECTS; i++) kept[i] = make(call);
  collect();
  return (process.memoryUsage().heapUsed - before) / kept.length;
}

const names = Object.keys(uses);
const rounds = Array.from({ length: ROUNDS }, () =>
  Object.values(makers).map((make) => Object.values(uses).map((use) => microsecondsOf(make, use))),
);
process.stdout.write(
  `| | bytes unread | ${names.join(', µs | ')}, µs |\n| --- |${' ---: |'.repeat(names.length + 1)}\n`,
);
Object.entries(makers).forEach(([name, make], maker) => {
  const cells = names.map((_, use) => median(rounds.map((round) => round[maker]![use]!)).toFixed(2));
  process.stdout.write(`| ${name} | ${bytesOf(make).toFixed(0)} | ${cells.join(' | ')} |\n`);
});
