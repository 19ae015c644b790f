import { OwnPackages } from '../support/own-packages.ts';

/** The routers weigh 150 MB. */
const packages = new OwnPackages('test', 'routers', 'fixtures', 'routers');

export const installRouters = () => packages.install();

/** Imports a module of a router. */
export const importRouter = <Exports>(name: string) => packages.import<Exports>(name);
