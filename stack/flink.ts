import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { installJars } from './jars.ts';

/** Flink with its connector for Kafka. stack/flink/pom.xml fixes the versions. */
const LIBS_FOLDER = join(process.cwd(), '.stack', 'flink', 'libs');
const TIMEOUT_MS = 180_000;

/** What Flink needs of Java 17. */
const OPENED = ['java.base/java.lang', 'java.base/java.util', 'java.base/java.time', 'java.base/java.util.concurrent'];

/** Runs the statements of a file in a Flink of one process, on the orders of stack/flink/RunTables.java. Resolves when all are written. */
export async function runFlink(statements: string): Promise<void> {
  const folder = join('stack', 'flink');
  await installJars(folder, LIBS_FOLDER);
  const opened = OPENED.flatMap((name) => ['--add-opens', `${name}=ALL-UNNAMED`]);
  const flags = ['-Xmx512m', '-Duser.timezone=UTC', '-Dorg.slf4j.simpleLogger.defaultLogLevel=error', ...opened];
  const program = [join(folder, 'RunTables.java'), statements];
  await promisify(execFile)('java', [...flags, '-cp', join(LIBS_FOLDER, '*'), ...program], { timeout: TIMEOUT_MS });
}
