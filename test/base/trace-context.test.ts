import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseTraceContext, printTraceParent } from '../../src/base/trace-context.ts';

const PARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const CONTEXT = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7', isSampled: true };

describe('parseTraceContext', () => {
  it('parses what printTraceParent prints', () => {
    const hex = (length: number) =>
      fc.stringMatching(new RegExp(`^[0-9a-f]{${length}}$`)).filter((text) => !/^0*$/.test(text));
    fc.assert(
      fc.property(hex(32), hex(16), fc.boolean(), (traceId, spanId, isSampled) => {
        const context = { traceId, spanId, isSampled };
        assert.deepEqual(parseTraceContext(printTraceParent(context)), context);
      }),
    );
  });

  it('takes only the lowest flag for the decision', () => {
    assert.equal(parseTraceContext(PARENT.replace(/01$/, '03'))?.isSampled, true);
    assert.equal(parseTraceContext(PARENT.replace(/01$/, 'fe'))?.isSampled, false);
  });

  it('refuses every other text', () => {
    for (const text of [
      '',
      PARENT.slice(0, -1),
      `${PARENT}0`,
      `${PARENT}-00`,
      ` ${PARENT.slice(1)}`,
      PARENT.toUpperCase(),
      PARENT.replace(/^00/, 'ff'),
      PARENT.replace(/^00/, '01'),
      PARENT.replaceAll('-', '_'),
      PARENT.replace(/01$/, 'zz'),
      PARENT.replace('4bf92f3577b34da6a3ce929d0e0e4736', '0'.repeat(32)),
      PARENT.replace('00f067aa0ba902b7', '0'.repeat(16)),
    ]) {
      assert.equal(parseTraceContext(text), undefined, text);
    }
  });

  it('keeps a tracestate without optional spaces, and drops a malformed or long one alone', () => {
    assert.deepEqual(parseTraceContext(PARENT, 'a=1, b@c=x:y ,,d=2'), { ...CONTEXT, state: 'a=1,b@c=x:y,d=2' });
    for (const state of [
      '',
      ',',
      'a',
      'a=',
      'A=1',
      'a=1 2',
      'a=1\n',
      'a=b=c',
      'a=é',
      `a=${'x'.repeat(257)}`,
      `${'a=1,'.repeat(32)}b=1`,
      `a=${'x'.repeat(200)},b=${'x'.repeat(200)},c=${'x'.repeat(200)}`,
    ]) {
      assert.deepEqual(
        parseTraceContext(PARENT, state),
        state === 'a=1\n' ? { ...CONTEXT, state: 'a=1' } : CONTEXT,
        state,
      );
    }
  });
});
