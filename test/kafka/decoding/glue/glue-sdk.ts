import { OwnPackages } from '../../../support/own-packages.ts';

/** A folder of a project that has AWS's SDK for Glue, which crier does not depend on. */
export const GLUE_PROJECT = 'test/kafka/decoding/glue/fixtures/sdk';

/** Installs the SDK once. */
export function installGlueSdk(): void {
  new OwnPackages(GLUE_PROJECT).install();
}

/** What AWS's SDK reads of the environment. */
export function awsEnvironment(url: string) {
  return {
    AWS_ENDPOINT_URL_GLUE: url,
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'id',
    AWS_SECRET_ACCESS_KEY: 'hunter2',
    AWS_EC2_METADATA_DISABLED: 'true',
  };
}
