import type { Settings } from './settings.ts';

/** A line for each setting of trusted documents and automatic persisted queries that can have no effect with the others. */
export function documentsProblems(settings: Settings): string[] {
  const { TRUSTED_DOCUMENTS: path, TRUSTED_DOCUMENTS_MODE: mode, APQ: hasAutomatic } = settings;
  const problems: string[] = [];
  if (mode !== '' && path === '')
    problems.push(`TRUSTED_DOCUMENTS_MODE=${mode}: expected with TRUSTED_DOCUMENTS, got none`);
  if (hasAutomatic && path !== '' && mode !== 'allowed')
    problems.push(
      'APQ=true contradicts TRUSTED_DOCUMENTS, which refuses every other document; set TRUSTED_DOCUMENTS_MODE=allowed, or unset APQ',
    );
  if (hasAutomatic && settings.DOCUMENT_CACHE_ENTRIES === 0)
    problems.push('APQ=true contradicts DOCUMENT_CACHE_ENTRIES=0: it finds documents in that cache');
  return problems;
}
