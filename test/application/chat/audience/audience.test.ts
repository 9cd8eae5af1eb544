/** Who in the chat is told what, live and after coming back, without a socket. */
import { expect } from 'chai';
import { createRelay } from '../../../../adapters/realtime/relay/relay.js';
import { chat, endStreams, isEntitled, streamKeysOf } from '../../../../application/chat/audience/audience.js';
import type { RevealedEvent } from '../../../../application/ports/index.js';
import type { LiveEvent } from '../../../../application/subscription/live-feed.js';
import type { ChatEvent, catalog } from '../../../../domain/chat/catalog.js';
import { type ChannelsCommand, channels } from '../../../../domain/chat/channels.js';
import { message } from '../../../../domain/chat/message.js';
import {
  ADA,
  asAdmin,
  asUser,
  BOB,
  CHANNEL,
  CYD,
  createChannel,
  createWebhook,
  deleteChannel,
  deleteMessage,
  deleteReply,
  deleteWebhook,
  editMessage,
  editReply,
  pin,
  postMessage,
  postReply,
  react,
  unpin,
  unreact,
  updateChannel,
} from '../../../support/chat-fixtures.js';
import {
  added,
  admin,
  ended,
  erased,
  left,
  NOON,
  refreshed,
  removed,
  roleChanged,
} from '../../../support/chat-user-fixtures.js';
import { specOf } from '../../../support/decider-spec.js';
import { fakeClock, useFakeTimers } from '../../../support/fake-clock.js';
import { eventAt } from '../../../support/memory-ports.js';
import { head, record } from '../../../support/toy-service.js';

const ROOT = 'root'.padEnd(22, '0');
const HOUR = 3_600_000;

/** One of each event that a message, its reactions and its thread can have. */
const talk = specOf(message).run([
  postMessage('hello'),
  editMessage('hi'),
  pin(),
  unpin(),
  react('+1'),
  unreact('+1'),
  postReply('reply'),
  editReply('m.reply', 'other'),
  deleteReply('m.reply'),
  deleteMessage(),
]).events;
const newTopic = updateChannel({ topic: 'about' });
const TALK_TYPES = [
  'NEW_MESSAGE',
  'UPDATE_MESSAGE',
  'UPDATE_MESSAGE',
  'UPDATE_MESSAGE',
  'NEW_REACTION',
  'DELETE_REACTION',
  'NEW_THREAD_REPLY',
  'UPDATE_THREAD_REPLY',
  'DELETE_THREAD_REPLY',
  'DELETE_MESSAGE',
];

describe('the event stream of the chat', () => {
  let relay: ReturnType<typeof begin>;
  let position: bigint;
  let places: readonly ChatEvent[];
  let time: ReturnType<typeof fakeClock>;
  let release: () => void;

  const begin = () => createRelay({ audience: chat, head, clock: time });
  beforeEach(() => {
    time = fakeClock(NOON);
    release = useFakeTimers(time);
    relay = begin();
    position = 0n;
    places = [];
    publish(admin(ROOT), added(ADA), added(BOB), added(CYD));
  });
  afterEach(() => {
    relay.close();
    release();
  });

  function publish(...events: readonly (ChatEvent & { erased?: boolean })[]) {
    for (const { type, data, erased = false } of events) {
      const event = {
        ...eventAt(++position, type, data as never),
        erased,
      } as unknown as RevealedEvent<ChatEvent>;
      relay.publish(event);
      endStreams(relay)(event as LiveEvent<typeof catalog>);
    }
    return position;
  }

  /** What becomes of channels by these commands. */
  function run(...commands: readonly ChannelsCommand[]) {
    const { events } = specOf(channels).run(commands, places as never);
    publish(...events.slice(places.length));
    places = events;
  }
  const members = (...ids: readonly string[]) => run(updateChannel({ members: [ADA, ...ids] }));
  const secret = (...ids: readonly string[]) =>
    run(createChannel('Secret', { channelId: CHANNEL, isPrivate: true, members: ids }));

  function listen(userId: string, after?: bigint, sessionId = `of ${userId}`, expiresAt = NOON + HOUR) {
    const client = record();
    const caller = { userId, sessionId, userName: userId, isAdmin: false };
    const since = after === undefined ? {} : { after };
    const entitled: Parameters<typeof relay.connect>[0]['entitled'] = (delivery, now) =>
      isEntitled(delivery, now, userId);
    relay.connect({ keys: streamKeysOf(caller), entitled, until: { at: expiresAt }, ...since }, client);
    return client;
  }
  const types = ({ sent }: ReturnType<typeof record>) => sent.map(({ message: { type } }) => type);
  /** What somebody gets who comes back after that position. */
  const missed = (userId: string, after: bigint) => types(listen(userId, after));

  it('tells of all that happens in a private channel its members and admins alone', () => {
    const all = [ROOT, ADA, BOB, CYD].map((each) => listen(each));
    secret(BOB);
    run(createWebhook('Robot'), newTopic);
    publish(...talk);
    run(deleteWebhook(), deleteChannel());
    const seen = ['NEW_CHANNEL', 'NEW_WEBHOOK', 'UPDATE_CHANNEL', ...TALK_TYPES, 'DELETE_WEBHOOK', 'DELETE_CHANNEL'];
    expect(all.map(types)).to.deep.equal([seen, seen, seen, []]);
  });

  describe('to who comes back', () => {
    it('gives all that they missed in a channel that they still see', () => {
      secret(BOB);
      const from = position;
      run(createWebhook('Robot'), newTopic);
      publish(...talk);
      run(deleteWebhook());
      const seen = ['NEW_WEBHOOK', 'UPDATE_CHANNEL', ...TALK_TYPES, 'DELETE_WEBHOOK'];
      expect(missed(BOB, from)).to.deep.equal(seen);
      expect(missed(ROOT, from)).to.deep.equal(seen);
      expect(missed(CYD, from)).to.deep.equal([]);
    });

    it('gives of a channel that they were taken out of nothing but that it went', () => {
      secret(BOB);
      const from = position;
      run(createWebhook('Robot'), newTopic);
      publish(...talk);
      run(deleteWebhook());
      members();
      publish(...talk);
      expect(missed(BOB, from)).to.deep.equal(['DELETE_CHANNEL']);
    });

    it('gives those who stay all of it, though others were taken out', () => {
      secret(BOB, CYD);
      const from = position;
      publish(...talk);
      members(BOB);
      expect(missed(BOB, from)).to.deep.equal([...TALK_TYPES, 'UPDATE_CHANNEL']);
      expect(missed(CYD, from)).to.deep.equal(['DELETE_CHANNEL']);
    });

    it('gives nothing of a channel that they were taken into and out of meanwhile, but that it went', () => {
      secret();
      const from = position;
      members(BOB);
      publish(...talk);
      members();
      expect(missed(BOB, from)).to.deep.equal(['DELETE_CHANNEL']);
    });

    it('gives what they missed of private channels as an admin only while they are one', () => {
      secret();
      const from = position;
      publish(roleChanged(CYD, true, ROOT));
      run(createWebhook('Robot'));
      publish(...talk);
      expect(missed(CYD, from)).to.deep.equal(['UPDATE_USER', 'NEW_CHANNEL', 'NEW_WEBHOOK', ...TALK_TYPES]);
      publish(roleChanged(CYD, false, ROOT));
      expect(missed(CYD, from)).to.deep.equal(['UPDATE_USER', 'UPDATE_USER', 'DELETE_CHANNEL']);
    });

    it('gives of a channel that is deleted only that it is, holds nothing else of it, and loses nothing of the others', () => {
      run(createChannel('Gone', { channelId: 'gone' }), createChannel('General', { channelId: CHANNEL }));
      const from = publish(added('dan'));
      const short = relay.kept();
      const gone = { channelId: 'gone', messageId: 'g' };
      publish(...specOf(message).run([postMessage('x'.repeat(5000), gone)]).events, added('eve'), ...talk);
      const long = relay.kept();
      run(createWebhook('Robot', { channelId: 'gone' }), deleteChannel(asAdmin(ROOT), 'gone'));
      expect(missed(BOB, from)).to.deep.equal(['NEW_USER', ...TALK_TYPES, 'DELETE_CHANNEL']);
      expect(missed(BOB, from - 1n)).to.deep.equal(['NEW_USER', 'NEW_USER', ...TALK_TYPES, 'DELETE_CHANNEL']);
      expect(long - relay.kept()).to.be.greaterThan(5000);
      expect(relay.kept()).to.be.greaterThan(short);
    });

    it('gives who is taken out the name that the channel had for them, not the one that it gets', () => {
      secret(BOB);
      const from = position;
      run(updateChannel({ members: [ADA], name: 'Of others' }));
      const { sent } = listen(BOB, from);
      expect(sent.map((each) => each.message)).to.deep.equal([
        { type: 'DELETE_CHANNEL', payload: { id: CHANNEL, name: 'Secret' } },
      ]);
    });

    it('gives of a public channel that became private only that it went', () => {
      run(createChannel('General', { channelId: CHANNEL }));
      const from = position;
      publish(...talk);
      run(updateChannel({ isPrivate: true }));
      expect(missed(BOB, from)).to.deep.equal(['DELETE_CHANNEL']);
      expect(missed(ADA, from)).to.deep.equal([...TALK_TYPES, 'UPDATE_CHANNEL']);
      run(updateChannel({ isPrivate: false, by: asUser(ADA) }));
      expect(missed(BOB, from)).to.deep.equal([...TALK_TYPES, 'DELETE_CHANNEL', 'NEW_CHANNEL']);
    });
  });

  it('tells who becomes an admin, or is none any more, of the channels that only admins see with them', () => {
    secret();
    run(createChannel('General', { channelId: 'general too' }));
    run(createChannel('Ours', { channelId: 'ours', isPrivate: true, members: [CYD] }));
    const [cyd, bob] = [listen(CYD), listen(BOB)];
    publish(roleChanged(CYD, true, ROOT), roleChanged(CYD, false, ROOT));
    const seen = cyd.sent.map(({ message: { type, payload } }) => [type, (payload as { id: string }).id]);
    expect(seen).to.deep.equal([
      ['UPDATE_USER', CYD],
      ['NEW_CHANNEL', CHANNEL],
      ['UPDATE_USER', CYD],
      ['DELETE_CHANNEL', CHANNEL],
    ]);
    expect(types(bob)).to.deep.equal(['UPDATE_USER', 'UPDATE_USER']);
  });

  it('has the cursor on the last of the frames of one event only', () => {
    secret();
    run(createChannel('Board', { channelId: 'board', isPrivate: true }));
    const cyd = listen(CYD);
    const at = publish(roleChanged(CYD, true, ROOT));
    expect(types(cyd)).to.deep.equal(['UPDATE_USER', 'NEW_CHANNEL', 'NEW_CHANNEL']);
    expect(cyd.sent.map((each) => each.position)).to.deep.equal([undefined, undefined, at]);
  });

  it('tells nobody of what is erased', () => {
    secret(BOB);
    const bob = listen(BOB);
    const whole = specOf(channels)
      .run([createWebhook('Robot')], places as never)
      .events.slice(places.length);
    // Whose words are gone: what is left of them is not told as if it were theirs.
    const unread = talk.filter(({ data }) => 'secret' in data);
    publish(...[...unread, ...whole, added('dan', {}), left(CYD)].map((each) => ({ ...each, erased: true })));
    expect(types(bob)).to.deep.equal([]);
  });

  it('ends with its session alone, and for who is removed, leaves or is erased with all of theirs', () => {
    const sessions = (userId: string) => ['one', 'two'].map((each) => listen(userId, undefined, each + userId));
    const how = (clients: readonly ReturnType<typeof record>[]) => clients.map((each) => each.ended);
    const [ada, bob, cyd, root] = [ADA, BOB, CYD, ROOT].map(sessions) as ReturnType<typeof sessions>[];
    publish(ended(`one${ADA}`, 'logout'));
    expect(how(ada!)).to.deep.equal(['over', undefined]);
    publish(removed(BOB, ROOT));
    expect(how(bob!)).to.deep.equal(['over', 'over']);
    expect(types(bob![0]!)).to.deep.equal(['REMOVE_USER']);
    publish(left(CYD));
    expect(how(cyd!)).to.deep.equal(['over', 'over']);
    publish(erased(ADA, ROOT));
    expect(how(ada!)).to.deep.equal(['over', 'over']);
    expect(how(root!)).to.deep.equal([undefined, undefined]);
  });

  it('goes on as long as a session that is refreshed, and no other goes on with it', () => {
    const [one, two] = ['one', 'two'].map((each) => listen(ADA, undefined, each, NOON + 1000));
    publish(refreshed('one', 1, NOON));
    time.pass(1000);
    expect([one!.ended, two!.ended]).to.deep.equal([undefined, 'over']);
  });
});
