import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseCredit, parseMark, printCredit, printMark } from '../../../src/bus/flow/mark.ts';

const word = fc.stringMatching(/^[\w.-]+$/);
const count = fc.maxSafeNat();

describe('marks and credits', () => {
  it('are parsed back from their printed text', () => {
    fc.assert(
      fc.property(word, count, word, count, fc.boolean(), (topic, partition, stream, bytes, isQuestion) => {
        const mark = { topic, partition, stream, bytes, isQuestion };
        assert.deepEqual(parseMark(printMark(mark)), mark);
      }),
    );
    fc.assert(
      fc.property(word, word, fc.maxSafeInteger(), fc.option(count, { nil: undefined }), (stream, gateway, served, bytes) => {
        const credit = { stream, gateway, served, bytes };
        assert.deepEqual(parseCredit(printCredit(credit)), credit);
      }), // prettier-ignore
    );
  });

  it('are parsed with fields that a later version has added', () => {
    for (const fields of [' lag=5', ' a= trace=00-1-2-01,x']) {
      const mark = { topic: 'bids', partition: 0, stream: 's', bytes: 5, isQuestion: true };
      assert.deepEqual(parseMark(`${printMark(mark)}${fields}`), mark);
      const credit = { stream: 's', gateway: 'g', served: 1, bytes: undefined };
      assert.deepEqual(parseCredit(`${printCredit(credit)}${fields}`), credit);
    }
  });

  it('are not read from any other text', () => {
    for (const text of ['', 'a', 'bids 0 s', 'bids 0 s x', 'bids -1 s 5', 'bids 0 s 5??', 'bids 0 s 5 6']) {
      assert.equal(parseMark(text), undefined, text);
    }
    for (const text of ['', 's g', 's g 1', 's g x 5', 's g 1 --', 's g 1 5 6']) {
      assert.equal(parseCredit(text), undefined, text);
    }
  });
});
