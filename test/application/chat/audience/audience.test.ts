/** Who receives which chat event, live and after resuming, tested without a socket. */
import { expect } from 'chai';
import { createRelay } from '../../../../adapters/realtime/relay/relay.js';
import { chatAudience, endStreams, isEntitled, streamKeysOf } from '../../../../application/chat/audience/audience.js';
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
  runMessages,
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

const [ROOT, HOUR] = ['root'.padEnd(22, '0'), 3_600_000];

const commands = [
  postMessage('hello'),
  editMessage('hi'),
  pin(),
  unpin(),
  react('+1'),
  unreact('+1'),
  postReply('reply'),
  editReply('m.reply', 'other'),
];
/** One event of each kind that a message, its reactions and its thread can have, until they are deleted. */
const talk = runMessages(commands).events;
const deletions = runMessages([...commands, deleteReply('m.reply'), deleteMessage()]).events.slice(talk.length);
const chat = chatAudience(() => ({ replyCount: 1, lastReplyAt: NOON, lastReplyBy: BOB, participants: [BOB] }));
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
];
const DELETION_TYPES = ['DELETE_THREAD_REPLY', 'DELETE_MESSAGE'];

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

  /** Runs commands on the channels and publishes the new events. */
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
  /** The types of the messages a user receives who resumes after that position. */
  const missed = (userId: string, after: bigint) => types(listen(userId, after));

  it('delivers events of a private channel to its members and admins only', () => {
    const all = [ROOT, ADA, BOB, CYD].map((each) => listen(each));
    secret(BOB);
    run(createWebhook('Robot'), newTopic);
    publish(...talk, ...deletions);
    run(deleteWebhook(), deleteChannel());
    const messages = [...TALK_TYPES, ...DELETION_TYPES];
    const seen = ['NEW_CHANNEL', 'NEW_WEBHOOK', 'UPDATE_CHANNEL', ...messages, 'DELETE_WEBHOOK', 'DELETE_CHANNEL'];
    expect(all.map(types)).to.deep.equal([seen, seen, seen, []]);
  });

  describe('for a resuming user', () => {
    it('replays all events of a channel that is still visible, but only the deletion of deleted messages', () => {
      secret(BOB);
      const from = position;
      run(createWebhook('Robot'), newTopic);
      publish(...talk);
      run(deleteWebhook());
      const seen = ['NEW_WEBHOOK', 'UPDATE_CHANNEL', ...TALK_TYPES, 'DELETE_WEBHOOK'];
      expect(missed(BOB, from)).to.deep.equal(seen);
      expect(missed(ROOT, from)).to.deep.equal(seen);
      publish(...deletions);
      expect(missed(BOB, from)).to.deep.equal(['NEW_WEBHOOK', 'UPDATE_CHANNEL', 'DELETE_WEBHOOK', ...DELETION_TYPES]);
      expect(missed(CYD, from)).to.deep.equal([]);
    });

    it('replays only DELETE_CHANNEL of a channel the user was removed from, also after its deletion', () => {
      secret(BOB);
      const from = position;
      run(createWebhook('Robot'), newTopic);
      publish(...talk);
      run(deleteWebhook());
      members();
      publish(...talk);
      run(deleteChannel(asAdmin(ROOT)));
      expect(missed(BOB, from)).to.deep.equal(['DELETE_CHANNEL']);
    });

    it('replays everything to remaining members when others were removed', () => {
      secret(BOB, CYD);
      const from = position;
      publish(...talk);
      members(BOB);
      expect(missed(BOB, from)).to.deep.equal([...TALK_TYPES, 'UPDATE_CHANNEL']);
      expect(missed(CYD, from)).to.deep.equal(['DELETE_CHANNEL']);
    });

    it('replays only DELETE_CHANNEL of a channel the user was added to and removed from meanwhile', () => {
      secret();
      const from = position;
      members(BOB);
      publish(...talk);
      members();
      expect(missed(BOB, from)).to.deep.equal(['DELETE_CHANNEL']);
    });

    it('replays private channels to an admin only while the user is an admin', () => {
      secret();
      const from = position;
      publish(roleChanged(CYD, true, ROOT));
      run(createWebhook('Robot'));
      publish(...talk);
      expect(missed(CYD, from)).to.deep.equal(['UPDATE_USER', 'NEW_CHANNEL', 'NEW_WEBHOOK', ...TALK_TYPES]);
      publish(roleChanged(CYD, false, ROOT));
      run(deleteChannel(asAdmin(ROOT)));
      expect(missed(CYD, from)).to.deep.equal(['UPDATE_USER', 'UPDATE_USER', 'DELETE_CHANNEL']);
    });

    it('replays only DELETE_CHANNEL of a deleted channel, frees its events and keeps those of others', () => {
      run(createChannel('Gone', { channelId: 'gone' }), createChannel('General', { channelId: CHANNEL }));
      const from = publish(added('dan'));
      const short = relay.bufferedBytes();
      const deletedChannel = { channelId: 'gone', messageId: 'g' };
      publish(...specOf(message).run([postMessage('x'.repeat(5000), deletedChannel)]).events, added('eve'), ...talk);
      const long = relay.bufferedBytes();
      run(createWebhook('Robot', { channelId: 'gone' }), deleteChannel(asAdmin(ROOT), 'gone'));
      expect(missed(BOB, from)).to.deep.equal(['NEW_USER', ...TALK_TYPES, 'DELETE_CHANNEL']);
      expect(missed(BOB, from - 1n)).to.deep.equal(['NEW_USER', 'NEW_USER', ...TALK_TYPES, 'DELETE_CHANNEL']);
      expect(long - relay.bufferedBytes()).to.be.greaterThan(5000);
      expect(relay.bufferedBytes()).to.be.greaterThan(short);
    });

    it('sends a removed member the former name of a renamed channel', () => {
      secret(BOB);
      const from = position;
      run(updateChannel({ members: [ADA], name: 'Of others' }));
      const { sent } = listen(BOB, from);
      expect(sent.map((each) => each.message)).to.deep.equal([
        { type: 'DELETE_CHANNEL', payload: { id: CHANNEL, name: 'Secret' } },
      ]);
    });

    it('replays only DELETE_CHANNEL of a public channel that became private', () => {
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

  it('sends the channels that only admins see to users who gain or lose the admin role', () => {
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

  it('puts the resume position on the last frame of an event', () => {
    secret();
    run(createChannel('Board', { channelId: 'board', isPrivate: true }));
    const cyd = listen(CYD);
    const at = publish(roleChanged(CYD, true, ROOT));
    expect(types(cyd)).to.deep.equal(['UPDATE_USER', 'NEW_CHANNEL', 'NEW_CHANNEL']);
    expect(cyd.sent.map((each) => each.position)).to.deep.equal([undefined, undefined, at]);
  });

  it('does not deliver events whose content is erased', () => {
    secret(BOB);
    const bob = listen(BOB);
    const whole = specOf(channels)
      .run([createWebhook('Robot')], places as never)
      .events.slice(places.length);
    // The content of these events is erased, so they are not delivered as if it were there.
    const unread = talk.filter(({ data }) => 'secret' in data);
    publish(...[...unread, ...whole, added('dan', {}), left(CYD)].map((each) => ({ ...each, erased: true })));
    expect(types(bob)).to.deep.equal([]);
  });

  it('ends with its session, and all streams of a user end when the user is removed, leaves or is erased', () => {
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

  it('continues when its own session is refreshed, and ends otherwise', () => {
    const [one, two] = ['one', 'two'].map((each) => listen(ADA, undefined, each, NOON + 1000));
    publish(refreshed('one', 1, NOON));
    time.pass(1000);
    expect([one!.ended, two!.ended]).to.deep.equal([undefined, 'over']);
  });
});
