/** One socket session of the meetings on a node sharedBucket relay lags behind its log, and sharedBucket log may be unavailable. */
import { eventually } from '@annals/engines/testing/condition.js';
import { silentLogger } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { createSocketSession } from '../../../adapters/http/meeting/socket-session.js';
import { createRelay } from '../../../adapters/realtime/relay/relay.js';
import { createGroupCommit } from '../../../application/command/group-commit.js';
import { createTokenBucket } from '../../../application/concurrency/limiters.js';
import { createMeetingAudience } from '../../../application/meeting/audience/audience.js';
import { createMeetingChat } from '../../../application/meeting/chat-messages.js';
import type { ClusterSignaling } from '../../../application/meeting/cluster-signaling.js';
import { createRoomEntry, resumeTokenOf } from '../../../application/meeting/join-room.js';
import { CHAT_BYTES, ROOM_CHANGES_PER_NETWORK, SIGNAL_BYTES } from '../../../application/meeting/message-limits.js';
import { createParticipantActions } from '../../../application/meeting/participant-actions.js';
import { createSignalRelay } from '../../../application/meeting/relay-signal.js';
import { createRoomMetrics } from '../../../application/meeting/room-metrics.js';
import { type Clock, type Quota, type RecordedEvent, UnavailableError } from '../../../application/ports/index.js';
import { catalog, type MeetingEvent } from '../../../domain/meeting/catalog.js';
import { memoryKernel, memoryWorld } from '../../support/memory-kernel.js';
import { context, record, types } from '../../support/toy-service.js';

const roomId = 'ABC234';
/** Allows opening any number of rooms. */
const free: Quota = { spend: async () => undefined, refund: async () => {} };

function node(monotonic?: Clock, returnMs = 20_000) {
  const kernel = memoryKernel(memoryWorld(), [catalog]);
  const stop = new AbortController();
  const audience = createMeetingAudience({ resumeToken: resumeTokenOf(kernel.derivation) });
  const relay = createRelay({ audience, head: kernel.head });
  const census = createRoomMetrics(relay.state(), 0n);
  const pending: RecordedEvent[] = [];
  const rooms = () => relay.state();
  const live: ClusterSignaling = {
    send: ({ to }, { json }) => void relay.sendEphemeral([to.id], { json }),
    sendWithBackpressure: async ({ to }, { json }) => void (await relay.sendWithBackpressure(to.id, { json })),
  };
  let isUnavailable = false;
  const retain = async () => {
    if (isUnavailable) throw new UnavailableError('away');
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
    rooms,
  });
  const { used, limit } = talk.waiting;
  let isFull = false;
  let slowed = 0;
  const converse = createSocketSession({
    ...kernel,
    roomEntry: createRoomEntry({
      ...kernel,
      clock: Date,
      rooms,
      run: 'here',
      returnMs: 0,
      passwords: { hash: refuse, matches: refuse },
    }),
    actions: createParticipantActions({ ...kernel, clock: Date, logger: silentLogger, signal: stop.signal }),
    chat: { ...talk, waiting: { ...talk.waiting, used: () => (isFull ? limit : used()) } },
    signalRelay: createSignalRelay({ live, rooms, onRelayed: () => {} }),
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
      pending.push(...events);
  })();
  return {
    pending,
    makeUnavailable: () => {
      isUnavailable = true;
    },
    /** The number of sessions that are being slowed down. */
    slowed: () => slowed,
    /** Simulates that the chat queue of the node is full, or not. */
    fill: (full: boolean) => {
      isFull = full;
    },
    /** Publishes all pending log events to the relay. */
    async catchUp() {
      for (const event of pending.splice(0)) {
        relay.publish(await kernel.decryptEvent(catalog, event as RecordedEvent<MeetingEvent>));
        census.advance(event.position);
      }
    },
    open(chatRate = createTokenBucket(CHAT_BYTES), changeRate = createTokenBucket(ROOM_CHANGES_PER_NETWORK)) {
      const sink = record();
      const codes: number[] = [];
      const close = (code: number) => void codes.push(code);
      const socket = { sink, close };
      const unknownRooms = { countAttempt: async () => false, isExhausted: () => false };
      const limits = { caller: 'x', unknownRooms, roomQuota: free, chatRate, changeRate };
      const conversation = converse({ speaker: socket, ...limits, logger: silentLogger, context });
      return { sink, codes, ...conversation };
    },
    async stop() {
      stop.abort();
      await following;
      relay.close();
    },
  };
}

describe('meeting socket session', () => {
  let nodes: ReturnType<typeof node>;
  beforeEach(() => {
    nodes = node();
  });
  afterEach(() => nodes.stop());
  const joinMessage = { type: 'join', roomId, name: 'Ada', isHost: true };
  const hostSession = async (client = nodes.open()) => {
    const joining = client.onMessage(joinMessage);
    await eventually(async () => {
      await nodes.catchUp();
      return client.sink.frames.length > 0;
    });
    await joining;
    return client;
  };

  it('processes the next message once the relay has delivered the own admission', async () => {
    const ada = nodes.open();
    let isDone = false;
    const joining = Promise.resolve(ada.onMessage(joinMessage)).then(() => {
      isDone = true;
    });
    await eventually(() => nodes.pending.length === 2);
    for (let n = 0; n < 20; n++) await new Promise(setImmediate);
    expect(isDone).to.equal(false);
    await nodes.catchUp();
    await joining;
    void ada.onMessage({ type: 'chat', text: 'Hello' });
    await eventually(() => nodes.pending.length === 1);
    await nodes.catchUp();
    expect(types(ada.sink)).to.deep.equal(['participant-joined', 'chat']);
  });

  it('sends 32 chat messages before it waits for one to be in the log', async () => {
    const ada = await hostSession();
    const waits = Array.from({ length: 32 }, () => ada.onMessage({ type: 'chat', text: 'Hm' }));
    expect(waits.map((each) => each !== undefined)).to.deep.equal([...Array(31).fill(false), true]);
    await Promise.all(waits);
  });

  it("sends one chat message at a time while the node's queue is full", async () => {
    const ada = await hostSession();
    const sendChat = () => ada.onMessage({ type: 'chat', text: 'Hm' });
    expect(sendChat()).to.equal(undefined);
    nodes.fill(true);
    const waits = sendChat();
    expect(waits).to.be.instanceOf(Promise);
    await waits;
    nodes.fill(false);
    expect(sendChat()).to.equal(undefined);
  });

  it('changes a room in a burst of 200, then twice a second, and stops waiting when the socket closes', async () => {
    await nodes.stop();
    let now = 0;
    nodes = node({ now: () => now });
    const ada = await hostSession();
    const toggle = (n: number) => ada.onMessage({ type: n % 2 ? 'lower-hand' : 'raise-hand' });
    for (let n = 0; n < 199; n++) await toggle(n);
    await eventually(() => nodes.pending.length === 199);
    now = 500;
    await toggle(199);
    await eventually(() => nodes.pending.length === 200);
    const waiting = toggle(200);
    for (let n = 0; n < 20; n++) await new Promise(setImmediate);
    expect(nodes.pending).to.have.length(200);
    expect(nodes.slowed()).to.equal(1);
    ada.onClose(1001);
    await waiting;
    expect(nodes.slowed()).to.equal(0);
    await eventually(() => nodes.pending.some(({ type }) => type === 'RoomEnded'));
    expect(nodes.pending.slice(200).map(({ type }) => type)).to.deep.equal(['ParticipantLeft', 'RoomEnded']);
  });

  it('processes earlier messages in order before the departure', async () => {
    const ada = await hostSession();
    void ada.onMessage({ type: 'chat', text: 'Bye' });
    void ada.onMessage({ type: 'room-locked' });
    ada.onClose(1001);
    await eventually(() => nodes.pending.some(({ type }) => type === 'RoomEnded'));
    const order = 'ChatSent,RoomLocked,ParticipantLeft,RoomEnded';
    expect(String(nodes.pending.map(({ type }) => type))).to.equal(order);
  });

  it('shares the rate of room changes with its network', async () => {
    const sharedBucket = createTokenBucket({ burst: 2, perSecond: 4 }, { now: () => 0 });
    const [ada, bob] = [
      nodes.open(createTokenBucket(CHAT_BYTES), sharedBucket),
      nodes.open(createTokenBucket(CHAT_BYTES), sharedBucket),
    ];
    const joining = ada.onMessage(joinMessage);
    await eventually(() => nodes.pending.length === 2);
    await nodes.catchUp();
    await joining;
    await ada.onMessage({ type: 'raise-hand' });
    await eventually(() => nodes.pending.length === 1);
    const waiting = bob.onMessage(joinMessage);
    for (let n = 0; n < 20; n++) await new Promise(setImmediate);
    expect(nodes.pending).to.have.length(1);
    await eventually(() => nodes.pending.length === 2);
    await nodes.catchUp();
    await waiting;
    expect(types(bob.sink)[0]).to.equal('participant-joined');
  });

  it("delays chat beyond the network's rate, and drops the rest when the socket closes", async () => {
    const now = 0;
    const sharedBucket = createTokenBucket({ burst: 10_000, perSecond: 50_000 }, { now: () => now });
    const [ada, bob] = [await hostSession(nodes.open(sharedBucket)), await hostSession(nodes.open(sharedBucket))];
    const text = 'x'.repeat(2000);
    for (let n = 0; n < 3; n++) expect(ada.onMessage({ type: 'chat', text })).to.equal(undefined);
    const waiting = bob.onMessage({ type: 'chat', text });
    expect(waiting).not.to.equal(undefined);
    await waiting;
    await eventually(() => nodes.pending.filter(({ type }) => type === 'ChatSent').length === 4);
    const overflow = ada.onMessage({ type: 'chat', text: `${text}!`.repeat(100) });
    ada.onClose(1001);
    await overflow;
    await eventually(() => nodes.pending.some(({ type }) => type === 'ParticipantLeft'));
    expect(nodes.pending.filter(({ type }) => type === 'ChatSent')).to.have.length(4);
  });

  it('does not cut readers off when another participant repeats a state without changing it', async () => {
    const [ada, bob] = [await hostSession(), await hostSession()];
    await bob.onMessage({ type: 'raise-hand' });
    await nodes.catchUp();
    ada.sink.reading = false;
    let isDone = false;
    const repeating = (async () => {
      for (let n = 0; n < 8000 && ada.sink.ended === undefined; n++) await bob.onMessage({ type: 'raise-hand' });
      isDone = true;
    })();
    // The buffer of the reader is full; the rest must wait until it reads.
    await eventually(() => isDone || ada.sink.unread > SIGNAL_BYTES.burst - 1000);
    for (let n = 0; n < 2000 && !isDone; n++) await new Promise(setImmediate);
    expect(isDone).to.equal(false);
    expect(ada.sink.ended).to.equal(undefined);
    ada.sink.leave();
    await repeating;
  });

  it('closes with 1013 when a message could not be stored, and lets the participant return', async () => {
    const ada = await hostSession();
    nodes.makeUnavailable();
    void ada.onMessage({ type: 'chat', text: 'Hello' });
    await eventually(() => ada.codes.length > 0);
    expect(ada.codes).to.deep.equal([1013]);
    expect(types(ada.sink)).to.deep.equal(['participant-joined']);
    ada.sink.leave();
    ada.onClose(1013);
    await eventually(() => nodes.pending.some(({ type }) => type === 'ConnectionLost'));
    await nodes.catchUp();
    const { participantId, resumeToken } = JSON.parse(ada.sink.frames[0]!.json);
    const again = nodes.open();
    const returning = again.onMessage({ ...joinMessage, isHost: false, participantId, resumeToken });
    await eventually(() => nodes.pending.length > 0);
    expect(nodes.pending.map(({ type }) => type)).to.deep.equal(['ParticipantReturned']);
    await nodes.catchUp();
    await returning;
    expect(nodes.pending).to.deep.equal([]);
  });

  it('removes the participant who does not return', async () => {
    await nodes.stop();
    nodes = node(undefined, 1);
    const ada = await hostSession();
    nodes.makeUnavailable();
    void ada.onMessage({ type: 'chat', text: 'Hello' });
    await eventually(() => ada.codes.length > 0);
    ada.onClose(1013);
    await eventually(() => nodes.pending.length === 3);
    expect(String(nodes.pending.map(({ type }) => type))).to.equal('ConnectionLost,ParticipantLeft,RoomEnded');
  });
});
