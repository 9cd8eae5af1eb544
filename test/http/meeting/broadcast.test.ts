/** Recipients of meeting messages over sockets, in order, with and without the sender. */
import { expect } from 'chai';
import { enterRoom, type MeetingMessage, type Person, receivedBy } from '../../support/meeting-client.js';
import { useMeeting } from '../../support/meeting-node.js';

describe('delivery in a meeting', function () {
  this.timeout(60_000);
  const meetings = useMeeting({ '--server-trusted-proxies': '127.0.0.1', '--meeting-return-seconds': '0.5' });
  let count = 0;
  let roomId: string;
  let [ada, bob, cleo]: Person[] = [];
  let people: { ada: Person; bob: Person; cleo: Person };

  beforeEach(async () => {
    roomId = `TELL${String(++count).padStart(2, '0')}`;
    ada = await enterRoom(meetings.base, roomId, 'Ada', { isHost: true });
    bob = await enterRoom(meetings.base, roomId, 'Bob');
    cleo = await enterRoom(meetings.base, roomId, 'Cleo');
    people = { ada, bob, cleo };
  });
  afterEach(() => {
    for (const { socket } of Object.values(people)) socket.terminate();
  });

  const messageFrom = (by: Person, type: string, more: object = {}): MeetingMessage => ({
    type,
    roomId,
    participantId: by.id,
    ...more,
  });
  const flags = { isMuted: false, isVideoOff: false, isHandRaised: false };
  const updated = (of: Person, more: object = {}) =>
    messageFrom(of, 'participant-updated', { isModerator: of === ada, ...flags, ...more });
  const all = (...inbox: readonly MeetingMessage[]) => ({ ada: inbox, bob: inbox, cleo: inbox });
  const inboxesAfter = (by: Person, type: string, more: object = {}) =>
    receivedBy(people, ada!, () => by.send(type, more));

  it('sends chat to everybody including the sender, with one timestamp and message id', async () => {
    const inbox = await inboxesAfter(bob!, 'chat', { text: 'Hello', replyTo: `1-${ada!.id}` });
    const { messageId } = inbox.ada![0]!;
    expect(inbox).to.deep.equal(
      all(messageFrom(bob!, 'chat', { text: 'Hello', name: 'Bob', replyTo: `1-${ada!.id}`, messageId })),
    );
    const isSameMessage = (each: MeetingMessage) => each.messageId === messageId;
    const times = await Promise.all([ada!, bob!, cleo!].map((each) => each.waitFor(isSameMessage)));
    expect(new Set(times.map(({ timestamp }) => `${timestamp}-${bob!.id}`))).to.deep.equal(new Set([messageId]));
  });

  it('sends messages of a participant in order, with unique message ids', async () => {
    const texts = Array.from({ length: 100 }, (_, n) => `n${n}`);
    const inbox = await receivedBy(people, ada!, () => {
      for (const text of texts) bob!.send('chat', { text });
    });
    for (const news of Object.values(inbox)) {
      expect(news.map(({ text }) => text)).to.deep.equal(texts);
      expect(new Set(news.map(({ messageId }) => messageId)).size).to.equal(100);
    }
  });

  const sent: readonly (readonly [string, object])[] = [
    ['offer', { sdp: 'v=0' }],
    ['answer', { sdp: { type: 'answer', sdp: 'v=0' } }],
    ['ice-candidate', { candidate: { candidate: 'a', sdpMid: null, sdpMLineIndex: 0, usernameFragment: 'u' } }],
    ['file-offer', { transferId: 't', fileName: 'a.txt', fileSize: 0, fileType: '' }],
    ['file-answer', { transferId: 't', accepted: true }],
    ['file-chunk', { transferId: 't', chunk: '', index: 0, total: 1 }],
  ];
  for (const [type, content] of sent) {
    it(`sends ${type} to its target only, unchanged, with the real sender`, async () => {
      const forged = { roomId: 'OTHER1', participantId: cleo!.id };
      const inbox = await inboxesAfter(bob!, type, { targetId: ada!.id, ...content, note: 'mine', ...forged });
      expect(inbox).to.deep.equal({
        ada: [messageFrom(bob!, type, { targetId: ada!.id, ...content, note: 'mine' })],
      });
      const [{ timestamp } = { timestamp: 0 }] = ada!.inbox.filter((each) => each.type === type);
      expect(timestamp, 'as it was sent').to.equal(1);
    });

    it(`drops ${type} to an unknown target`, async () => {
      expect(await inboxesAfter(bob!, type, { targetId: 'nobody', ...content })).to.deep.equal({});
    });
  }

  it("sends a participant's state to all others, complete, even without changes", async () => {
    for (let n = 0; n < 2; n++) {
      const seen = updated(bob!, { isMuted: true });
      expect(await inboxesAfter(bob!, 'participant-updated', { isMuted: true })).to.deep.equal({
        ada: [seen],
        cleo: [seen],
      });
    }
    const more = updated(bob!, { isMuted: true, isVideoOff: true, isHandRaised: true });
    expect(
      await inboxesAfter(bob!, 'participant-updated', {
        isVideoOff: true,
        isHandRaised: true,
        isModerator: true,
      }),
    ).to.deep.equal({ ada: [more], cleo: [more] });
    expect(await inboxesAfter(bob!, 'participant-updated')).to.deep.equal({ ada: [more], cleo: [more] });
  });

  for (const [type, isHandRaised] of [
    ['raise-hand', true],
    ['lower-hand', false],
  ] as const)
    it(`sends ${type} to all others, with the changed state`, async () => {
      for (let n = 0; n < 2; n++) {
        const seen = [messageFrom(bob!, type), updated(bob!, { isHandRaised })];
        expect(await inboxesAfter(bob!, type)).to.deep.equal({ ada: seen, cleo: seen });
      }
    });

  for (const reaction of ['thumb', 'clap', 'party', 'heart', 'laugh', '👋🏽'])
    it(`sends the reaction ${reaction} to all others, trimmed`, async () => {
      const seen = [messageFrom(bob!, 'reaction', { reaction })];
      expect(await inboxesAfter(bob!, 'reaction', { reaction: ` ${reaction}\n` })).to.deep.equal({
        ada: seen,
        cleo: seen,
      });
    });

  for (const [type, member] of [
    ['recording-started', 'startedBy'],
    ['recording-stopped', 'stoppedBy'],
    ['room-locked', 'lockedBy'],
    ['room-unlocked', 'unlockedBy'],
  ] as const)
    it(`sends ${type} of a moderator to everybody with the real sender, and rejects others`, async () => {
      for (let n = 0; n < 2; n++)
        expect(await inboxesAfter(ada!, type, { [member]: bob!.id })).to.deep.equal(
          all(messageFrom(ada!, type, { [member]: ada!.id })),
        );
      const { bob: refused, ...others } = await inboxesAfter(bob!, type, { [member]: ada!.id });
      expect(refused).to.have.length(1);
      expect(refused![0]).to.include({ type: 'error', code: 'UNAUTHORIZED', roomId, participantId: bob!.id });
      expect(others).to.deep.equal({});
    });

  it('sends the recording and raised hands to new participants', async () => {
    await inboxesAfter(ada!, 'recording-started', {});
    await inboxesAfter(bob!, 'raise-hand');
    const dan = await enterRoom(meetings.base, roomId, 'Dan');
    expect(dan.news().slice(-2)).to.deep.equal([
      updated(bob!, { isHandRaised: true }),
      messageFrom(ada!, 'recording-started', { startedBy: ada!.id }),
    ]);
    dan.socket.terminate();
  });

  for (const [action, more] of [
    ['mute', { isMuted: true }],
    ['unmute', { isMuted: false }],
    ['make-moderator', { isModerator: true }],
  ] as const)
    it(`sends ${action} to its target, and the new state to everybody`, async () => {
      for (let n = 0; n < 2; n++) {
        const seen = updated(bob!, more);
        expect(await inboxesAfter(ada!, 'moderator-action', { targetId: bob!.id, action })).to.deep.equal({
          ada: [seen],
          bob: [messageFrom(ada!, 'moderator-action', { targetId: bob!.id, action }), seen],
          cleo: [seen],
        });
      }
    });

  it('sends a kick to its target, whose socket closes with 4003, and the departure to the rest', async () => {
    const departures = [messageFrom(bob!, 'participant-left')];
    const id = bob!.id;
    expect(await inboxesAfter(ada!, 'moderator-action', { targetId: id, action: 'kick' })).to.deep.equal({
      ada: departures,
      bob: [messageFrom(ada!, 'moderator-action', { targetId: id, action: 'kick' })],
      cleo: departures,
    });
    expect((await bob!.closed).code).to.equal(4003);
  });

  it('sends a departure to the rest only; the socket may join again', async () => {
    const departures = [messageFrom(bob!, 'participant-left')];
    expect(await inboxesAfter(bob!, 'leave')).to.deep.equal({ ada: departures, cleo: departures });
    const { bob: refused } = await inboxesAfter(bob!, 'leave');
    expect(refused).to.have.length(1);
    expect(refused![0]).to.include({ type: 'error', code: 'NOT_JOINED', roomId: '', participantId: '' });
    bob!.send('join', { roomId, name: 'Bob' });
    await bob!.answered();
    expect(bob!.news().map(({ type }) => type)).to.deep.equal(Array(3).fill('participant-joined'));
  });

  it('sends a lost connection as such, and as a departure after the return period', async () => {
    const flags = { isModerator: false, isMuted: false, isVideoOff: false, isHandRaised: false };
    const disconnected = messageFrom(bob!, 'participant-updated', { ...flags, connection: 'lost' });
    const departures = [disconnected, messageFrom(bob!, 'participant-left')];
    const id = bob!.id;
    const inbox = await receivedBy({ ada: ada!, cleo: cleo! }, ada!, async () => {
      bob!.socket.terminate();
      await ada!.waitFor(({ type, participantId }) => type === 'participant-left' && participantId === id);
    });
    expect(inbox).to.deep.equal({ ada: departures, cleo: departures });
  });
});
