import { randomUUID } from 'node:crypto';
import { GraphQLError } from 'graphql';

interface Context {
  readonly pubsub: {
    publish(trigger: string, payload: unknown): Promise<void>;
    asyncIterableIterator<T>(trigger: string): AsyncIterableIterator<T>;
  };
}

interface Line {
  readonly room: string;
  readonly user: string;
  readonly text: string;
  readonly id?: string | null;
}

/** A room is one word of a channel's name, so no room leads to the channel of another. */
function channelOf(room: string, subject: 'said' | 'typing'): string {
  if (/^[\w-]{1,64}$/.test(room)) return `chat:${room}:${subject}`;
  throw new GraphQLError('A room has 1 to 64 letters, digits, "_" or "-"', { extensions: { code: 'BAD_USER_INPUT' } });
}

export const Query = { rooms: () => ['lobby', 'help'] };

export const Mutation = {
  say: async (_: unknown, line: Line, { pubsub }: Context) => {
    const message = { ...line, id: line.id ?? randomUUID(), at: new Date().toISOString() };
    await pubsub.publish(channelOf(line.room, 'said'), { said: message });
    return message;
  },
  type: async (_: unknown, { room, user }: Pick<Line, 'room' | 'user'>, { pubsub }: Context) => {
    await pubsub.publish(channelOf(room, 'typing'), { user });
    return true;
  },
};

export const Subscription = {
  said: {
    subscribe: (_: unknown, { room }: Pick<Line, 'room'>, { pubsub }: Context) =>
      pubsub.asyncIterableIterator(channelOf(room, 'said')),
  },
};
