import type { Settings } from './settings.ts';

/** A line for each setting of trusted documents and automatic persisted queries that can have no effect with the others. */
export function documentsProblems(settings: Settings): string[] {
  const { TRUSTED_DOCUMENTS: path, TRUSTED_DOCUMENTS_MODE: mode, APQ: hasAutomatic, names } = settings;
  const problems: string[] = [];
  if (mode !== '' && path === '')
    problems.push(`${names.TRUSTED_DOCUMENTS_MODE}=${mode}: expected with ${names.TRUSTED_DOCUMENTS}, got none`);
  if (hasAutomatic && path !== '' && mode !== 'allowed')
    problems.push(
      `${names.APQ}=true contradicts ${names.TRUSTED_DOCUMENTS}, which refuses every other document; set ${names.TRUSTED_DOCUMENTS_MODE}=allowed, or unset ${names.APQ}`,
    );
  if (hasAutomatic && settings.DISABLE.includes('document-cache'))
    problems.push(`${names.APQ}=true contradicts ${names.DISABLE}=document-cache: it finds documents in that cache`);
  return problems;
}
