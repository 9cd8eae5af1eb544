/** People of a chat, and for each test a channel of its own in which they talk. */
import type { Member } from './chat-client.js';
import { type ChatWorld, startChat } from './chat-world.js';

// biome-ignore lint/suspicious/noExplicitAny: what a server answers is looked at member by member.
export type Said = any;

type People = Pick<ChatWorld, 'base' | 'admin' | 'ada' | 'bob' | 'cyd' | 'join' | 'as' | 'done'>;

export interface OwnChannel extends People {
  /** That of the test which runs. */
  readonly channel: string;
  /** Another one. */
  open(): Promise<string>;
  /** The message as it is answered; a text is its content. */
  post(who: Member, said: object | string, at?: string): Promise<Said>;
  /** The messages of a page, as ada reads it. */
  page(query?: string): Promise<Said[]>;
}

/** To be called within `describe`: a node for all of its tests. */
export function useChannel(): OwnChannel {
  let world: ChatWorld;
  let channel = '';
  let opened = 0;
  const open = async (): Promise<string> =>
    (await world.done(world.ada, 'POST', '/channels', { name: `c${++opened}` })).channel.id;
  before(async () => {
    world = await startChat();
  });
  after(() => world?.stop());
  beforeEach(async () => {
    channel = await open();
  });
  return {
    get base() {
      return world.base;
    },
    get admin() {
      return world.admin;
    },
    get ada() {
      return world.ada;
    },
    get bob() {
      return world.bob;
    },
    get cyd() {
      return world.cyd;
    },
    get channel() {
      return channel;
    },
    join: (name) => world.join(name),
    as: (...asked) => world.as(...asked),
    done: (...asked) => world.done(...asked),
    open,
    async post(who, said, at = channel) {
      const body = typeof said === 'string' ? { content: said } : said;
      return (await world.done(who, 'POST', `/channels/${at}/messages`, body)).message;
    },
    page: async (query = '') => (await world.done(world.ada, 'GET', `/channels/${channel}/messages${query}`)).messages,
  };
}
