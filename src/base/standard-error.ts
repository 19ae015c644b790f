import { LogDestination } from './log-destination.ts';

/** Standard error, for the log of the server and for the error that ends this process. */
export const standardError = new LogDestination(process.stderr);
