import kafkajs from 'kafkajs';
import type { PartitionAssigner } from 'kafkajs';

/** Before the place in a member's metadata. */
const MARK = 'crier ';

export interface GroupPlaces {
  /** Where this member publishes; undefined: not known yet. Members that publish to the same channels have the same place. */
  readonly placeOf: () => string | undefined;
  /** Called on the group's leader, at each rebalance whose members have different places. */
  readonly onDifferent: (places: number, members: number) => void;
}

const { MemberMetadata } = kafkajs.AssignerProtocol;

/**
 * An assigner whose members tell each other where they publish. Members with different places would each publish a part of the partitions,
 * and the gateways of each place would miss the rest. Members that say nothing (another version) count as members of the same place.
 */
export function comparePlaces(assigner: PartitionAssigner, { placeOf, onDifferent }: GroupPlaces): PartitionAssigner {
  return (tools) => {
    const inner = assigner(tools);
    const { name, version } = inner;
    return {
      ...inner,
      protocol: ({ topics }) => {
        const place = placeOf();
        const userData = Buffer.from(place === undefined ? '' : MARK + place);
        return { name, metadata: MemberMetadata.encode({ version, topics, userData }) };
      },
      assign: (group) => {
        const places = new Set(group.members.map(({ memberMetadata }) => placeIn(memberMetadata)));
        places.delete(undefined);
        if (places.size > 1) onDifferent(places.size, group.members.length);
        return inner.assign(group);
      },
    };
  };
}

function placeIn(metadata: Buffer): string | undefined {
  const text = MemberMetadata.decode(metadata)?.userData.toString() ?? '';
  return text.startsWith(MARK) ? text.slice(MARK.length) : undefined;
}
