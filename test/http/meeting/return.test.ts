/** Returning to a meeting: participants who prove their identity take their place again, without duplicates. */
import { expect } from 'chai';
import { enterRoom, type MeetingMessage, open, type Person, receivedBy } from '../../support/meeting-client.js';
import { useMeeting } from '../../support/meeting-node.js';

describe('returning to a meeting', function () {
  this.timeout(60_000);
  const meetings = useMeeting({ '--server-trusted-proxies': '127.0.0.1' });
  const people: Person[] = [];
  let count = 0;
  let roomId: string;
  let [ada, bob]: Person[] = [];
  beforeEach(async () => {
    roomId = `BACK${String(++count).padStart(2, '0')}`;
    ada = await enterRoom(meetings.base, roomId, 'Ada', { isHost: true, password: 'secret' });
    bob = await enterRoom(meetings.base, roomId, 'Bob', { password: 'secret' });
    people.push(ada, bob);
  });
  afterEach(() => {
    for (const { socket } of people.splice(0)) socket.terminate();
  });
  const joinWith = async (more: object) => {
    const person = await enterRoom(meetings.base, roomId, 'Whoever', more);
    people.push(person);
    return person;
  };
  const proofOf = ({ id: participantId, resumeToken }: Person) => ({ participantId, resumeToken });
  const flags = { isMuted: false, isVideoOff: false };
  const joined = (participantId: string, name: string, more: object = {}): MeetingMessage =>
    ({
      type: 'participant-joined',
      roomId,
      participantId,
      name,
      isModerator: false,
      ...flags,
      ...more,
    }) as MeetingMessage;

  it('restores the participant without a password, silently for others; the former socket is closed', async () => {
    bob!.send('participant-updated', { isMuted: true, isHandRaised: true });
    ada!.send('moderator-action', { targetId: bob!.id, action: 'make-moderator' });
    await bob!.answered();
    const id = bob!.id;
    let again: Person;
    const inbox = await receivedBy({ ada: ada! }, ada!, async () => {
      again = await joinWith(proofOf(bob!));
    });
    expect(inbox).to.deep.equal({});
    expect((await bob!.closed).code).to.equal(4001);
    expect(again!.id).to.equal(id);
    expect(again!.resumeToken).to.equal(bob!.resumeToken);
    expect(again!.news()).to.deep.equal([
      joined(id, 'Bob', { isMuted: true, isModerator: true }),
      joined(ada!.id, 'Ada', { isModerator: true }),
      {
        type: 'participant-updated',
        roomId,
        participantId: id,
        isModerator: true,
        isMuted: true,
        isVideoOff: false,
        isHandRaised: true,
      },
    ]);
    const now = await receivedBy({ ada: ada!, again: again! }, ada!, () => again!.send('chat', { text: 'Back' }));
    expect(now.again).to.have.length(1);
    expect(now.ada?.[0]).to.include({ participantId: id, name: 'Bob' });
    again!.send('leave');
    await ada!.waitFor((each) => each.type === 'participant-left' && each.participantId === id);
    await ada!.answered();
    expect(ada!.inbox.filter(({ type }) => type === 'participant-left')).to.have.length(1);
  });

  it('works on the current socket', async () => {
    const inbox = await receivedBy({ ada: ada!, bob: bob! }, ada!, () =>
      bob!.send('join', { roomId, name: 'Bob', ...proofOf(bob!) }),
    );
    expect(inbox).to.deep.equal({
      bob: [joined(bob!.id, 'Bob'), joined(ada!.id, 'Ada', { isModerator: true })],
    });
    expect(await receivedBy({ ada: ada!, bob: bob! }, ada!, () => bob!.send('raise-hand'))).to.have.keys('ada');
  });

  it('keeps waiting participants in the waiting room', async () => {
    ada!.send('room-locked');
    await ada!.answered();
    const dan = await joinWith({ password: 'secret' });
    const again = await joinWith(proofOf(dan));
    expect(again.news()).to.deep.equal([{ type: 'waiting-room', roomId, participantId: dan.id, name: 'Whoever' }]);
    expect((await dan.closed).code).to.equal(4001);
    ada!.send('admit-user', { targetId: again.id });
    await again.waitFor('participant-joined');
  });

  it("requires the participant's own token", async () => {
    const { participantId, resumeToken } = proofOf(bob!);
    for (const proof of [
      { participantId },
      { participantId, resumeToken: '' },
      { participantId, resumeToken: ada!.resumeToken },
      { participantId: ada!.id, resumeToken },
    ]) {
      const eve = await joinWith(proof);
      expect(eve.news()[0]).to.include({ code: 'INVALID_PASSWORD' });
    }
  });

  it('leaves the current room before joining another', async () => {
    const other = `${roomId.slice(0, 5)}X`;
    const [id, proof] = [bob!.id, proofOf(bob!)];
    await receivedBy({ ada: ada!, bob: bob! }, ada!, () =>
      bob!.send('join', { roomId: other, name: 'Bob', isHost: true, ...proof }),
    );
    expect(bob!.id).not.to.equal(id);
    const left = { type: 'participant-left', participantId: id };
    expect(ada!.inbox.filter(({ type }) => type === left.type)).to.have.length(1);
  });

  it('delivers nothing before the own admission', async () => {
    const again = await open(meetings.base);
    people.push(again);
    for (let n = 0; n < 50; n++) ada!.send('chat', { text: `n${n}` });
    again.send('join', { roomId, name: 'Bob', ...proofOf(bob!) });
    await again.answered();
    expect(again.inbox[0]).to.include({ type: 'participant-joined', participantId: bob!.id });
  });
});
