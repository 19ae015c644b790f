import type { RawBroker, RawBrokerPool, RawCluster } from '../raw-cluster.ts';

/**
 * Lets the members of a consumer join through a connection of its own. A broker answers the requests of a connection one after another, and
 * the answer to a join waits for all members: the commits and look-ups of kafkajs 2.2.4 would wait behind it. The first join of a consumer has
 * nothing to wait behind it.
 */
export function joinThroughOwnConnection(cluster: Pick<RawCluster, 'findGroupCoordinator' | 'brokerPool'>): void {
  const { findGroupCoordinator, brokerPool } = cluster;
  const patched = new WeakSet<RawBroker>();
  let hasJoined = false;
  cluster.findGroupCoordinator = async function (group) {
    const broker = await findGroupCoordinator.call(this, group);
    if (patched.has(broker)) return broker;
    patched.add(broker);
    const { joinGroup, syncGroup } = broker;
    let own: RawBroker | undefined;
    const disconnect = () => {
      void own?.disconnect().catch(() => undefined);
      own = undefined;
    };
    broker.joinGroup = async function (request) {
      if (!hasJoined) return joinGroup.call(this, request);
      disconnect();
      try {
        own = await connect(brokerPool, broker);
        return await own.joinGroup(request);
      } catch (error) {
        disconnect();
        throw error;
      }
    };
    broker.syncGroup = async function (request) {
      try {
        const synced = await (own ? own.syncGroup(request) : syncGroup.call(this, request));
        hasJoined = true;
        return synced;
      } finally {
        disconnect();
      }
    };
    return broker;
  };
}

/** Without the known versions: a broker that does not answer the first request of a connection soon counts as hung (kafka-client.ts). */
async function connect(pool: RawBrokerPool, { nodeId, connectionPool }: RawBroker): Promise<RawBroker> {
  const { host, port, rack } = connectionPool;
  const own = pool.createBroker({
    connectionPool: await pool.connectionPoolBuilder.build({ host, port, rack }),
    logger: pool.rootLogger,
    nodeId,
  });
  await own.connect();
  return own;
}
