import { projectPackage } from '../base/project-packages.ts';

/** AWS's SDK for Glue. It is no dependency of crier: a project that installs it has records of AWS Glue decoded. */
export const GLUE_PACKAGE = '@aws-sdk/client-glue';

/** The command that installs it, in the version that crier is tested with. */
export const INSTALL_GLUE = `npm install ${GLUE_PACKAGE}@3.1169.0`;

/** How records and keys of Glue become readable. */
export const USE_GLUE = `${INSTALL_GLUE} beside the graph, and give the worker AWS_REGION and credentials of AWS that allow glue:GetSchemaVersion`;

/** The file to load; undefined: it is not installed. @param graph the setting GRAPH */
export function gluePackageFile(graph: string): string | undefined {
  return projectPackage(GLUE_PACKAGE, graph);
}
