import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readConfig } from '../../src/config/config.ts';
import { configRefusal } from '../support/config-refusal.ts';

describe('readConfig, of trusted documents', () => {
  const refused: readonly (readonly [Readonly<Record<string, string>>, string])[] = [
    [
      { TRUSTED_DOCUMENTS_MODE: 'required' },
      'TRUSTED_DOCUMENTS_MODE=required: expected with TRUSTED_DOCUMENTS, got none',
    ],
    [
      { TRUSTED_DOCUMENTS_MODE: 'allowed' },
      'TRUSTED_DOCUMENTS_MODE=allowed: expected with TRUSTED_DOCUMENTS, got none',
    ],
    [
      { TRUSTED_DOCUMENTS: 'a.json', TRUSTED_DOCUMENTS_MODE: 'on' },
      'TRUSTED_DOCUMENTS_MODE: expected required or allowed, got "on"',
    ],
    [
      { TRUSTED_DOCUMENTS: 'a.json', APQ: 'true' },
      'APQ=true contradicts TRUSTED_DOCUMENTS, which refuses every other document; set TRUSTED_DOCUMENTS_MODE=allowed, or unset APQ',
    ],
    [
      { APQ: 'true', DISABLE: 'document-cache' },
      'APQ=true contradicts DISABLE=document-cache: it finds documents in that cache',
    ],
  ];
  for (const [environment, message] of refused) {
    it(`refuses ${JSON.stringify(environment)}`, () => assert.equal(configRefusal(environment), message));
  }

  it('accepts a manifest in both modes, and APQ where other documents are run', () => {
    for (const environment of [
      { TRUSTED_DOCUMENTS: 'a.json' },
      { TRUSTED_DOCUMENTS: 'a.json', TRUSTED_DOCUMENTS_MODE: 'required' },
      { TRUSTED_DOCUMENTS: 'a.json', TRUSTED_DOCUMENTS_MODE: 'allowed', APQ: 'true' },
      { APQ: 'true' },
    ])
      assert.doesNotThrow(() => readConfig(environment));
  });
});
