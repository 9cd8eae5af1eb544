/** Who in a meeting gets what somebody says, over sockets: exactly they, in this order, and whether the sender too. */
import { expect } from 'chai';
import { come, type MeetingMessage, type Person, receivedBy } from '../../support/meeting-client.js';
import { useMeeting } from '../../support/meeting-node.js';

describe('in a meeting', function () {
  this.timeout(60_000);
  const meetings = useMeeting({ '--server-trusted-proxies': '127.0.0.1', '--meeting-return-seconds': '0.5' });
  let count = 0;
  let roomId: string;
  let [ada, bob, cleo]: Person[] = [];
  let people: { ada: Person; bob: Person; cleo: Person };

  beforeEach(async () => {
    roomId = `TELL${String(++count).padStart(2, '0')}`;
    ada = await come(meetings.base, roomId, 'Ada', { isHost: true });
    bob = await come(meetings.base, roomId, 'Bob');
    cleo = await come(meetings.base, roomId, 'Cleo');
    people = { ada, bob, cleo };
  });
  afterEach(() => {
    for (const { socket } of Object.values(people)) socket.terminate();
  });

  const said = (by: Person, type: string, more: object = {}): MeetingMessage => ({
    type,
    roomId,
    participantId: by.id,
    ...more,
  });
  const flags = { isMuted: false, isVideoOff: false, isHandRaised: false };
  const updated = (of: Person, more: object = {}) =>
    said(of, 'participant-updated', { isModerator: of === ada, ...flags, ...more });
  const all = (...inbox: readonly MeetingMessage[]) => ({ ada: inbox, bob: inbox, cleo: inbox });
  const whenSays = (by: Person, type: string, more: object = {}) => receivedBy(people, ada!, () => by.send(type, more));

  it('chat goes to everybody, the sender too, with one time, by which and the sender it is known', async () => {
    const inbox = await whenSays(bob!, 'chat', { text: 'Hello', replyTo: `1-${ada!.id}` });
    const { messageId } = inbox.ada![0]!;
    expect(inbox).to.deep.equal(
      all(said(bob!, 'chat', { text: 'Hello', name: 'Bob', replyTo: `1-${ada!.id}`, messageId })),
    );
    const isIt = (each: MeetingMessage) => each.messageId === messageId;
    const times = await Promise.all([ada!, bob!, cleo!].map((each) => each.waitFor(isIt)));
    expect(new Set(times.map(({ timestamp }) => `${timestamp}-${bob!.id}`))).to.deep.equal(new Set([messageId]));
  });

  it('no two messages of a person are known by the same, and they come in order', async () => {
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
    it(`${type} goes to the target only, as it was sent, from whom it really is`, async () => {
      const false_ = { roomId: 'OTHER1', participantId: cleo!.id };
      const inbox = await whenSays(bob!, type, { targetId: ada!.id, ...content, note: 'mine', ...false_ });
      expect(inbox).to.deep.equal({
        ada: [said(bob!, type, { targetId: ada!.id, ...content, note: 'mine' })],
      });
      const [{ timestamp } = { timestamp: 0 }] = ada!.inbox.filter((each) => each.type === type);
      expect(timestamp, 'as it was sent').to.equal(1);
    });

    it(`${type} to who is not there goes nowhere, and nobody hears of that`, async () => {
      expect(await whenSays(bob!, type, { targetId: 'nobody', ...content })).to.deep.equal({});
    });
  }

  it('what people say of themselves goes to everybody else, whole, also where nothing changes', async () => {
    for (let twice = 0; twice < 2; twice++) {
      const seen = updated(bob!, { isMuted: true });
      expect(await whenSays(bob!, 'participant-updated', { isMuted: true })).to.deep.equal({
        ada: [seen],
        cleo: [seen],
      });
    }
    const more = updated(bob!, { isMuted: true, isVideoOff: true, isHandRaised: true });
    expect(
      await whenSays(bob!, 'participant-updated', {
        isVideoOff: true,
        isHandRaised: true,
        isModerator: true,
      }),
    ).to.deep.equal({ ada: [more], cleo: [more] });
    expect(await whenSays(bob!, 'participant-updated')).to.deep.equal({ ada: [more], cleo: [more] });
  });

  for (const [type, isHandRaised] of [
    ['raise-hand', true],
    ['lower-hand', false],
  ] as const)
    it(`${type} goes to everybody else, under its own name and as what it changes`, async () => {
      for (let twice = 0; twice < 2; twice++) {
        const seen = [said(bob!, type), updated(bob!, { isHandRaised })];
        expect(await whenSays(bob!, type)).to.deep.equal({ ada: seen, cleo: seen });
      }
    });

  for (const reaction of ['thumb', 'clap', 'party', 'heart', 'laugh', '👋🏽'])
    it(`the reaction ${reaction} goes to everybody else, trimmed`, async () => {
      const seen = [said(bob!, 'reaction', { reaction })];
      expect(await whenSays(bob!, 'reaction', { reaction: ` ${reaction}\n` })).to.deep.equal({
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
    it(`${type} goes to everybody, the sender too, with who it really was; and only moderators may`, async () => {
      for (let twice = 0; twice < 2; twice++)
        expect(await whenSays(ada!, type, { [member]: bob!.id })).to.deep.equal(
          all(said(ada!, type, { [member]: ada!.id })),
        );
      const { bob: refused, ...others } = await whenSays(bob!, type, { [member]: ada!.id });
      expect(refused).to.have.length(1);
      expect(refused![0]).to.include({ type: 'error', code: 'UNAUTHORIZED', roomId, participantId: bob!.id });
      expect(others).to.deep.equal({});
    });

  it('who comes is told of a recording, and of hands', async () => {
    await whenSays(ada!, 'recording-started', {});
    await whenSays(bob!, 'raise-hand');
    const dan = await come(meetings.base, roomId, 'Dan');
    expect(dan.news().slice(-2)).to.deep.equal([
      updated(bob!, { isHandRaised: true }),
      said(ada!, 'recording-started', { startedBy: ada!.id }),
    ]);
    dan.socket.terminate();
  });

  for (const [action, more] of [
    ['mute', { isMuted: true }],
    ['unmute', { isMuted: false }],
    ['make-moderator', { isModerator: true }],
  ] as const)
    it(`${action} is told the target, and everybody what comes of it`, async () => {
      for (let twice = 0; twice < 2; twice++) {
        const seen = updated(bob!, more);
        expect(await whenSays(ada!, 'moderator-action', { targetId: bob!.id, action })).to.deep.equal({
          ada: [seen],
          bob: [said(ada!, 'moderator-action', { targetId: bob!.id, action }), seen],
          cleo: [seen],
        });
      }
    });

  it('kick is told the target, whose socket closes with 4003, and the rest that they left', async () => {
    const left = [said(bob!, 'participant-left')];
    const id = bob!.id;
    expect(await whenSays(ada!, 'moderator-action', { targetId: id, action: 'kick' })).to.deep.equal({
      ada: left,
      bob: [said(ada!, 'moderator-action', { targetId: id, action: 'kick' })],
      cleo: left,
    });
    expect((await bob!.closed).code).to.equal(4003);
  });

  it('who leaves is told nothing, the rest that they left; the socket stays, and may join again', async () => {
    const left = [said(bob!, 'participant-left')];
    expect(await whenSays(bob!, 'leave')).to.deep.equal({ ada: left, cleo: left });
    const { bob: refused } = await whenSays(bob!, 'leave');
    expect(refused).to.have.length(1);
    expect(refused![0]).to.include({ type: 'error', code: 'NOT_JOINED', roomId: '', participantId: '' });
    bob!.send('join', { roomId, name: 'Bob' });
    await bob!.answered();
    expect(bob!.news().map(({ type }) => type)).to.deep.equal(Array(3).fill('participant-joined'));
  });

  it('whose connection is lost is shown as such, and has left when its time is over', async () => {
    const flags = { isModerator: false, isMuted: false, isVideoOff: false, isHandRaised: false };
    const lost = said(bob!, 'participant-updated', { ...flags, connection: 'lost' });
    const left = [lost, said(bob!, 'participant-left')];
    const id = bob!.id;
    const inbox = await receivedBy({ ada: ada!, cleo: cleo! }, ada!, async () => {
      bob!.socket.terminate();
      await ada!.waitFor(({ type, participantId }) => type === 'participant-left' && participantId === id);
    });
    expect(inbox).to.deep.equal({ ada: left, cleo: left });
  });
});
