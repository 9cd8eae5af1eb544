/** One client of the meetings on a node whose relay lags behind its log, and whose log may be away. */
import { eventually } from '@annals/engines/testing/condition.js';
import { silentLogger } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { createSocketSession } from '../../../adapters/http/meeting/socket-session.js';
import { createRelay } from '../../../adapters/realtime/relay/relay.js';
import { createGroupCommit } from '../../../application/command/group-commit.js';
import { createTokenBucket } from '../../../application/concurrency/rate-limiter.js';
import { createMeetingAudience } from '../../../application/meeting/audience/audience.js';
import { createMeetingChat } from '../../../application/meeting/chat-messages.js';
import { createRoomEntry, resumeTokenOf } from '../../../application/meeting/join-room.js';
import { CHAT_BYTES, ROOM_CHANGES_PER_NETWORK, SIGNAL_BYTES } from '../../../application/meeting/message-limits.js';
import { createParticipantActions } from '../../../application/meeting/participant-actions.js';
import { createSignalRelay } from '../../../application/meeting/relay-signal.js';
import { createRoomMetrics } from '../../../application/meeting/room-metrics.js';
import type { ClusterSignaling } from '../../../application/meeting/signaling-port.js';
import { type Clock, type Quota, type RecordedEvent, UnavailableError } from '../../../application/ports/index.js';
import { catalog, type MeetingEvent } from '../../../domain/meeting/catalog.js';
import { memoryKernel, memoryWorld } from '../../support/memory-kernel.js';
import { record, types } from '../../support/toy-audience.js';
import { context } from '../../support/toy-service.js';

const roomId = 'ABC234';
/** Allows opening any number of rooms. */
const free: Quota = { spend: async () => undefined, refund: async () => {} };

function node(monotonic?: Clock, returnMs = 20_000) {
  const kernel = memoryKernel(memoryWorld(), [catalog]);
  const stop = new AbortController();
  const audience = createMeetingAudience({ resumeToken: resumeTokenOf(kernel.derivation) });
  const relay = createRelay({ audience, head: kernel.head });
  const census = createRoomMetrics(relay.state(), 0n);
  const held: RecordedEvent[] = [];
  const room = (id: string) => relay.state().get(id);
  const live: ClusterSignaling = {
    send: ({ to }, { json }) => void relay.sendEphemeral([to.id], { json }),
    sendWithBackpressure: async ({ to }, { json }) => void (await relay.sendWithBackpressure(to.id, { json })),
  };
  let isAway = false;
  const retain = async () => {
    if (isAway) throw new UnavailableError('away');
  };
  const log = { ...kernel.log, retain };
  const refuse = () => Promise.reject(new Error('no room of these tests has a password'));
  const talk = createMeetingChat({
    log,
    appender: createGroupCommit({ log, logger: silentLogger, appended: () => {} }),
    clock: Date,
    node: 'north',
    release: 'test',
    retentionSeconds: 60,
    room,
  });
  const { used, limit } = talk.waiting;
  let isFull = false;
  let slowed = 0;
  const converse = createSocketSession({
    ...kernel,
    roomEntry: createRoomEntry({
      ...kernel,
      clock: Date,
      room,
      run: 'here',
      returnMs: 0,
      passwords: { hash: refuse, matches: refuse },
    }),
    actions: createParticipantActions({ ...kernel, clock: Date, logger: silentLogger, signal: stop.signal }),
    chat: { ...talk, waiting: { ...talk.waiting, used: () => (isFull ? limit : used()) } },
    signalRelay: createSignalRelay({ live, room, onRelayed: () => {} }),
    relay,
    audience,
    awaitPosition: census.awaitPosition,
    clock: Date,
    monotonic,
    observe: {
      open: () => {},
      slowed: (change) => {
        slowed += change;
      },
    },
    onSeatTaken: () => {},
    returnMs,
    isClosing: () => false,
  });
  const following = (async () => {
    const from = 'start' as const;
    for await (const { events } of kernel.follow({ prefixes: ['meeting.'], from, signal: stop.signal }))
      held.push(...events);
  })();
  return {
    held,
    away: () => {
      isAway = true;
    },
    /** How many wait until they may do more. */
    slowed: () => slowed,
    /** By what others say, or not. */
    fill: (full: boolean) => {
      isFull = full;
    },
    /** The relay hears of all that stands in the log. */
    async catchUp() {
      for (const event of held.splice(0)) {
        relay.publish(await kernel.decryptEvent(catalog, event as RecordedEvent<MeetingEvent>));
        census.advance(event.position);
      }
    },
    open(saying = createTokenBucket(CHAT_BYTES), changing = createTokenBucket(ROOM_CHANGES_PER_NETWORK)) {
      const sink = record();
      const codes: number[] = [];
      const close = (code: number) => void codes.push(code);
      const speaker = { sink, close };
      const unknownRooms = { countAttempt: async () => false, isExhausted: () => false };
      const whose = { caller: 'x', unknownRooms, roomQuota: free, chatRate: saying, changeRate: changing };
      const conversation = converse({ speaker, ...whose, logger: silentLogger, context });
      return { sink, codes, ...conversation };
    },
    async stop() {
      stop.abort();
      await following;
      relay.close();
    },
  };
}

describe('a client of the meetings', () => {
  let nodes: ReturnType<typeof node>;
  beforeEach(() => {
    nodes = node();
  });
  afterEach(() => nodes.stop());
  const joins = { type: 'join', roomId, name: 'Ada', isHost: true };
  const host = async (client = nodes.open()) => {
    const joining = client.onMessage(joins);
    await eventually(async () => {
      await nodes.catchUp();
      return client.sink.frames.length > 0;
    });
    await joining;
    return client;
  };

  it('is heard again when the relay has told that they are there', async () => {
    const ada = nodes.open();
    let isDone = false;
    const joining = Promise.resolve(ada.onMessage(joins)).then(() => {
      isDone = true;
    });
    await eventually(() => nodes.held.length === 2);
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    expect(isDone).to.equal(false);
    await nodes.catchUp();
    await joining;
    void ada.onMessage({ type: 'chat', text: 'Hello' });
    await eventually(() => nodes.held.length === 1);
    await nodes.catchUp();
    expect(types(ada.sink)).to.deep.equal(['participant-joined', 'chat']);
  });

  it('says 32 things before it waits for one of them to stand in the log', async () => {
    const ada = await host();
    const waits = Array.from({ length: 32 }, () => ada.onMessage({ type: 'chat', text: 'Hm' }));
    expect(waits.map((each) => each !== undefined)).to.deep.equal([...Array(31).fill(false), true]);
    await Promise.all(waits);
  });

  it('says one thing at a time while the node has too much on its way into the log', async () => {
    const ada = await host();
    const say = () => ada.onMessage({ type: 'chat', text: 'Hm' });
    expect(say()).to.equal(undefined);
    nodes.fill(true);
    const waits = say();
    expect(waits).to.be.instanceOf(Promise);
    await waits;
    nodes.fill(false);
    expect(say()).to.equal(undefined);
  });

  it('changes a room 200 times at once and 2 times a second from then on, and waits for no turn once it has gone', async () => {
    await nodes.stop();
    let now = 0;
    nodes = node({ now: () => now });
    const ada = await host();
    const toggle = (n: number) => ada.onMessage({ type: n % 2 ? 'lower-hand' : 'raise-hand' });
    for (let n = 0; n < 199; n++) await toggle(n);
    await eventually(() => nodes.held.length === 199);
    now = 500;
    await toggle(199);
    await eventually(() => nodes.held.length === 200);
    const waiting = toggle(200);
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    expect(nodes.held).to.have.length(200);
    expect(nodes.slowed()).to.equal(1);
    ada.onClose(1001);
    await waiting;
    expect(nodes.slowed()).to.equal(0);
    await eventually(() => nodes.held.some(({ type }) => type === 'RoomEnded'));
    expect(nodes.held.slice(200).map(({ type }) => type)).to.deep.equal(['ParticipantLeft', 'RoomEnded']);
  });

  it('has done what it said before it has gone, in order, though what came before is not kept yet', async () => {
    const ada = await host();
    void ada.onMessage({ type: 'chat', text: 'Bye' });
    void ada.onMessage({ type: 'room-locked' });
    ada.onClose(1001);
    await eventually(() => nodes.held.some(({ type }) => type === 'RoomEnded'));
    const order = 'ChatSent,RoomLocked,ParticipantLeft,RoomEnded';
    expect(String(nodes.held.map(({ type }) => type))).to.equal(order);
  });

  it('changes rooms no faster than all of its network may', async () => {
    const whose = createTokenBucket({ burst: 2, perSecond: 4 }, { now: () => 0 });
    const [ada, bob] = [
      nodes.open(createTokenBucket(CHAT_BYTES), whose),
      nodes.open(createTokenBucket(CHAT_BYTES), whose),
    ];
    const joining = ada.onMessage(joins);
    await eventually(() => nodes.held.length === 2);
    await nodes.catchUp();
    await joining;
    await ada.onMessage({ type: 'raise-hand' });
    await eventually(() => nodes.held.length === 1);
    const waiting = bob.onMessage(joins);
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    expect(nodes.held).to.have.length(1);
    await eventually(() => nodes.held.length === 2);
    await nodes.catchUp();
    await waiting;
    expect(types(bob.sink)[0]).to.equal('participant-joined');
  });

  it('says to all what the log has room for from its network, and the rest later, or never where it has gone', async () => {
    const now = 0;
    const whose = createTokenBucket({ burst: 10_000, perSecond: 50_000 }, { now: () => now });
    const [ada, bob] = [await host(nodes.open(whose)), await host(nodes.open(whose))];
    const text = 'x'.repeat(2000);
    for (let n = 0; n < 3; n++) expect(ada.onMessage({ type: 'chat', text })).to.equal(undefined);
    const waiting = bob.onMessage({ type: 'chat', text });
    expect(waiting).not.to.equal(undefined);
    await waiting;
    await eventually(() => nodes.held.filter(({ type }) => type === 'ChatSent').length === 4);
    const late = ada.onMessage({ type: 'chat', text: `${text}!`.repeat(100) });
    ada.onClose(1001);
    await late;
    await eventually(() => nodes.held.some(({ type }) => type === 'ParticipantLeft'));
    expect(nodes.held.filter(({ type }) => type === 'ChatSent')).to.have.length(4);
  });

  it('cuts nobody who does not read just now by doing once more what is so already', async () => {
    const [ada, bob] = [await host(), await host()];
    await bob.onMessage({ type: 'raise-hand' });
    await nodes.catchUp();
    ada.sink.reading = false;
    let isDone = false;
    const repeating = (async () => {
      for (let n = 0; n < 8000 && ada.sink.ended === undefined; n++) await bob.onMessage({ type: 'raise-hand' });
      isDone = true;
    })();
    // As much as goes while nobody reads; the rest is not said before somebody does.
    await eventually(() => isDone || ada.sink.unread > SIGNAL_BYTES.burst - 1000);
    for (let turn = 0; turn < 2000 && !isDone; turn++) await new Promise(setImmediate);
    expect(isDone).to.equal(false);
    expect(ada.sink.ended).to.equal(undefined);
    ada.sink.leave();
    await repeating;
  });

  it('is to come back when what they said could not be kept', async () => {
    const ada = await host();
    nodes.away();
    void ada.onMessage({ type: 'chat', text: 'Hello' });
    await eventually(() => ada.codes.length > 0);
    expect(ada.codes).to.deep.equal([1013]);
    expect(types(ada.sink)).to.deep.equal(['participant-joined']);
    ada.sink.leave();
    ada.onClose(1013);
    await eventually(() => nodes.held.some(({ type }) => type === 'ConnectionLost'));
    await nodes.catchUp();
    const { participantId, resumeToken } = JSON.parse(ada.sink.frames[0]!.json);
    const again = nodes.open();
    const returning = again.onMessage({ ...joins, isHost: false, participantId, resumeToken });
    await eventually(() => nodes.held.length > 0);
    expect(nodes.held.map(({ type }) => type)).to.deep.equal(['ParticipantReturned']);
    await nodes.catchUp();
    await returning;
    expect(nodes.held).to.deep.equal([]);
  });

  it('leaves in the end where they do not', async () => {
    await nodes.stop();
    nodes = node(undefined, 1);
    const ada = await host();
    nodes.away();
    void ada.onMessage({ type: 'chat', text: 'Hello' });
    await eventually(() => ada.codes.length > 0);
    ada.onClose(1013);
    await eventually(() => nodes.held.length === 3);
    expect(String(nodes.held.map(({ type }) => type))).to.equal('ConnectionLost,ParticipantLeft,RoomEnded');
  });
});
