import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import typescript from 'typescript';

/**
 * Step of the build: writes the types of `@crier/client` from its source, which declares all of them. Plain JS, because it runs before
 * anything is compiled.
 * @param {string} folder
 */
export async function declareClient(folder) {
  const source = await readFile('client/client.ts', 'utf8');
  const { outputText, diagnostics = [] } = typescript.transpileDeclaration(source, {
    fileName: 'client.ts',
    reportDiagnostics: true,
    compilerOptions: { strict: true },
  });
  for (const { messageText } of diagnostics) {
    throw new Error(`client/client.ts: ${typescript.flattenDiagnosticMessageText(messageText, '\n')}`);
  }
  await writeFile(join(folder, 'client.d.ts'), outputText);
}
