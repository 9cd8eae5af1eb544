/** Who receives which message in a meeting, in which order, tested without a socket. */
import { expect } from 'chai';
import type { Message } from '../../../../application/subscription/audience.js';
import { type MeetingEvent, NAMELESS } from '../../../../domain/meeting/catalog.js';
import { chatSent, reactionSent } from '../../../../domain/meeting/meeting-chat.js';
import {
  ended,
  granted,
  happened,
  hosted,
  joined,
  kicked,
  left,
  locked,
  lost,
  meetingId,
  NOON,
  opened,
  promoted,
  requested,
  roomId,
  unlocked,
} from '../../../support/meeting-fixtures.js';
import { delivered } from './audience-spec.js';

const message = (type: string, participantId: string, more: object = {}): Message => ({
  type,
  roomId,
  participantId,
  timestamp: NOON,
  ...more,
});
const flags = { isMuted: false, isVideoOff: false, isHandRaised: false };
const joinedAs = (id: string, isModerator = false, more: object = {}) =>
  message('participant-joined', id, { name: id, isModerator, isMuted: false, isVideoOff: false, ...more });
const own = (id: string) => ({ resumeToken: `token-of-${id}` });
const updatedAs = (id: string, more: object = {}) =>
  message('participant-updated', id, { isModerator: false, ...flags, ...more });
const waits = (id: string, more: object = {}) => message('waiting-room', id, { name: id, ...more });
const leftAs = (id: string) => message('participant-left', id);

const three = [opened(), joined('ada', true), joined('bob'), joined('cleo')];
const raised = (participantId: string) => happened('HandRaised', { participantId, raisedAt: NOON });
const lowered = (participantId: string) => happened('HandLowered', { participantId, loweredAt: NOON });

const sentAt = NOON - 5;
const messageBy = (participantId: string) => ({ roomId, meetingId, participantId, sentAt });

describe('participants of a meeting', () => {
  it('all receive a chat message, including its sender', () => {
    const chatMessage = {
      ...message('chat', 'bob', { name: 'bob', text: 'Hi', messageId: `${sentAt}-bob` }),
      timestamp: sentAt,
    };
    expect(delivered(...three, chatSent(messageBy('bob'), 'Hi'))).to.deep.equal({
      ada: [chatMessage],
      bob: [chatMessage],
      cleo: [chatMessage],
    });
    const { ada } = delivered(...three, chatSent(messageBy('bob'), 'Hi', '1-ada'));
    expect(ada).to.deep.equal([{ ...chatMessage, replyTo: '1-ada' }]);
  });

  it('receive reactions of others', () => {
    const seen = { ...message('reaction', 'bob', { reaction: 'clap' }), timestamp: sentAt };
    expect(delivered(...three, reactionSent(messageBy('bob'), 'clap'))).to.deep.equal({ ada: [seen], cleo: [seen] });
  });

  it('receive no chat of senders who are not in this meeting', () => {
    for (const events of [
      [...three, chatSent(messageBy('dan'), 'Hi')],
      [...three, left('bob'), chatSent(messageBy('bob'), 'Hi')],
      [...three, kicked('bob', 'ada'), reactionSent(messageBy('bob'), 'clap')],
      [...three, locked('ada'), requested('dan'), chatSent(messageBy('dan'), 'Hi')],
      [...three, chatSent({ ...messageBy('bob'), meetingId: 'earlier' }, 'Hi')],
      [chatSent(messageBy('bob'), 'Hi')],
    ])
      expect(delivered(...events)).to.deep.equal({});
  });

  it('receive newcomers, who receive all participants in order of joining', () => {
    expect(delivered(opened(), joined('ada', true))).to.deep.equal({ ada: [joinedAs('ada', true, own('ada'))] });
    expect(delivered(...three)).to.deep.equal({
      ada: [joinedAs('cleo')],
      bob: [joinedAs('cleo')],
      cleo: [joinedAs('cleo', false, own('cleo')), joinedAs('ada', true), joinedAs('bob')],
    });
  });

  it('receive raised hands, the lock and the recording when they join', () => {
    const recording = happened('RecordingStarted', { startedAt: NOON, by: 'ada' });
    const { dan } = delivered(
      ...three,
      raised('bob'),
      recording,
      locked('ada'),
      requested('dan'),
      granted('dan', 'ada'),
    );
    expect(dan).to.deep.equal([
      joinedAs('dan', false, own('dan')),
      joinedAs('ada', true),
      joinedAs('bob'),
      joinedAs('cleo'),
      updatedAs('bob', { isHandRaised: true }),
      message('room-locked', 'ada', { lockedBy: 'ada' }),
      message('recording-started', 'ada', { startedBy: 'ada' }),
    ]);
  });

  it('receive the current media state of others when they join', () => {
    const dark = happened('ParticipantUpdated', {
      participantId: 'bob',
      updatedAt: NOON,
      ...flags,
      isMuted: true,
      isVideoOff: true,
    });
    const { cleo } = delivered(opened(), joined('ada', true), joined('bob'), dark, joined('cleo'));
    expect(cleo?.[2]).to.deep.equal({ ...joinedAs('bob'), isMuted: true, isVideoOff: true });
  });

  describe('in a locked room', () => {
    const lockedRoom = [...three, promoted('bob', 'ada'), locked('ada')];

    it('see waiting users only as moderators', () => {
      expect(delivered(...lockedRoom, requested('dan'))).to.deep.equal({
        ada: [waits('dan')],
        bob: [waits('dan')],
        dan: [waits('dan', own('dan'))],
      });
    });

    it('see an admitted user join', () => {
      const by = delivered(...lockedRoom, requested('dan'), granted('dan', 'ada'));
      for (const each of ['ada', 'bob', 'cleo']) expect(by[each]).to.deep.equal([joinedAs('dan')]);
      expect(by.dan?.[0]).to.deep.equal(joinedAs('dan', false, own('dan')));
    });

    it('do not see a rejected user, who receives the reason and is disconnected', () => {
      const refused = happened('EntryRefused', {
        participantId: 'dan',
        refusedAt: NOON,
        by: 'ada',
        secret: { reason: 'Not today' },
      });
      expect(delivered(...lockedRoom, requested('dan'), refused)).to.deep.equal({
        ada: [leftAs('dan')],
        bob: [leftAs('dan')],
        dan: [message('reject-user', 'ada', { targetId: 'dan', reason: 'Not today', ends: true })],
      });
    });

    it('see as moderators when a user stops waiting', () => {
      const withdrawn = happened('EntryWithdrawn', { participantId: 'dan', withdrawnAt: NOON });
      expect(delivered(...lockedRoom, requested('dan'), withdrawn)).to.deep.equal({
        ada: [leftAs('dan')],
        bob: [leftAs('dan')],
      });
    });

    it('are disconnected to reconnect if their node was wrongly taken for dead', () => {
      const over = (id: string) => ({ ...leftAs(id), ends: true });
      const withdrawn = happened('EntryWithdrawn', { participantId: 'dan', withdrawnAt: NOON, isLost: true });
      expect(delivered(...lockedRoom, requested('dan'), withdrawn)).to.deep.equal({
        ada: [leftAs('dan')],
        bob: [leftAs('dan')],
        dan: [over('dan')],
      });
      expect(delivered(...three, lost('cleo'))).to.deep.equal({
        ada: [leftAs('cleo')],
        bob: [leftAs('cleo')],
        cleo: [over('cleo')],
      });
    });

    it('see waiting users when they become moderators', () => {
      const waiting = [requested('dan'), requested('eve')];
      expect(delivered(...lockedRoom, ...waiting, promoted('cleo', 'ada')).cleo).to.deep.equal([
        message('moderator-action', 'ada', { targetId: 'cleo', action: 'make-moderator' }),
        updatedAs('cleo', { isModerator: true }),
        waits('dan'),
        waits('eve'),
      ]);
      expect(delivered(...lockedRoom, ...waiting, joined('fay', true)).fay?.slice(-2)).to.deep.equal([
        waits('dan'),
        waits('eve'),
      ]);
      expect(delivered(...lockedRoom, ...waiting, joined('fay')).fay?.at(-1)?.type).to.equal('room-locked');
    });

    it('receive an error when the meeting ends while they wait', () => {
      const over = delivered(hosted, joined('ada', true), locked('ada'), requested('bob'), left('ada'), ended());
      expect(over).to.deep.equal({
        bob: [message('error', 'bob', { code: 'ROOM_NOT_FOUND', message: 'The meeting has ended' })],
      });
    });
  });

  it('all receive locks and recordings with the moderator', () => {
    const expectedMessages: readonly (readonly [MeetingEvent, Message])[] = [
      [locked('ada'), message('room-locked', 'ada', { lockedBy: 'ada' })],
      [unlocked('ada'), message('room-unlocked', 'ada', { unlockedBy: 'ada' })],
      [
        happened('RecordingStarted', { startedAt: NOON, by: 'ada' }),
        message('recording-started', 'ada', { startedBy: 'ada' }),
      ],
      [
        happened('RecordingStopped', { stoppedAt: NOON, by: 'ada' }),
        message('recording-stopped', 'ada', { stoppedBy: 'ada' }),
      ],
    ];
    for (const [event, expected] of expectedMessages)
      expect(delivered(...three, event)).to.deep.equal({ ada: [expected], bob: [expected], cleo: [expected] });
    // A recording ends with its recorder, however that participant leaves.
    const during = [...three, happened('RecordingStarted', { startedAt: NOON, by: 'bob' })];
    const over = [leftAs('bob'), message('recording-stopped', 'bob', { stoppedBy: 'bob' })];
    for (const departure of [left('bob'), lost('bob'), kicked('bob', 'ada')])
      expect(delivered(...during, departure)).to.deep.include({ ada: over, cleo: over });
  });

  it('do not receive their own updates', () => {
    const update = happened('ParticipantUpdated', {
      participantId: 'bob',
      updatedAt: NOON,
      ...flags,
      isVideoOff: true,
    });
    const seen = updatedAs('bob', { isVideoOff: true });
    expect(delivered(...three, update)).to.deep.equal({ ada: [seen], cleo: [seen] });
    const up = [message('raise-hand', 'bob'), updatedAs('bob', { isHandRaised: true })];
    expect(delivered(...three, raised('bob'))).to.deep.equal({ ada: up, cleo: up });
    const down = [message('lower-hand', 'bob'), updatedAs('bob')];
    expect(delivered(...three, raised('bob'), lowered('bob'))).to.deep.equal({ ada: down, cleo: down });
  });

  it('see the action of a moderator, which its target receives too', () => {
    const muted = happened('ParticipantMuted', { participantId: 'bob', mutedAt: NOON, by: 'ada' });
    const unmuted = happened('ParticipantUnmuted', { participantId: 'bob', unmutedAt: NOON, by: 'ada' });
    const action = (what: string) => message('moderator-action', 'ada', { targetId: 'bob', action: what });
    for (const [events, what, seen] of [
      [[muted], 'mute', updatedAs('bob', { isMuted: true })],
      [[muted, unmuted], 'unmute', updatedAs('bob')],
      [[promoted('bob', 'ada')], 'make-moderator', updatedAs('bob', { isModerator: true })],
    ] as const)
      expect(delivered(...three, ...events)).to.deep.equal({
        ada: [seen],
        bob: [action(what), seen],
        cleo: [seen],
      });
  });

  it('see a kicked participant leave, whose stream ends with the kick', () => {
    const action = message('moderator-action', 'ada', { targetId: 'bob', action: 'kick', ends: true });
    expect(delivered(...three, kicked('bob', 'ada'))).to.deep.equal({
      ada: [leftAs('bob')],
      bob: [action],
      cleo: [leftAs('bob')],
    });
  });

  it('see a participant leave, and who becomes moderator', () => {
    expect(delivered(...three, left('ada'))).to.deep.equal({ bob: [leftAs('ada')], cleo: [leftAs('ada')] });
    const seen = updatedAs('bob', { isModerator: true });
    expect(delivered(...three, left('ada'), promoted('bob'))).to.deep.equal({
      bob: [message('moderator-action', 'bob', { targetId: 'bob', action: 'make-moderator' }), seen],
      cleo: [seen],
    });
  });

  it('receive the whole state after reconnecting, without a message to others', () => {
    const returned = (participantId: string) =>
      happened('ParticipantReturned', { participantId, returnedAt: NOON, node: 'south', seat: 'two' });
    expect(delivered(...three, returned('bob'))).to.deep.equal({
      bob: [joinedAs('bob', false, own('bob')), joinedAs('ada', true), joinedAs('cleo')],
    });
    // Their own raised hand too, since nothing else restores it.
    expect(delivered(...three, raised('bob'), returned('bob')).bob?.at(-1)).to.deep.equal(
      updatedAs('bob', { isHandRaised: true }),
    );
    expect(delivered(...three, locked('ada'), requested('dan'), returned('dan'))).to.deep.equal({
      dan: [waits('dan', own('dan'))],
    });
  });

  it('have a placeholder as name after erasure', () => {
    const erased = { ...joined('ada', true), erased: true };
    const nameless = { ...erased, data: { ...erased.data, secret: { name: NAMELESS } } };
    const { bob } = delivered(opened(), nameless, joined('bob'));
    expect(bob?.[1]?.name).to.equal(NAMELESS);
  });

  it('receive nothing of an earlier meeting in the same room', () => {
    const again = opened({ meetingId: 'second' });
    const { bob } = delivered(hosted, joined('ada', true), left('ada'), ended(), again, joined('bob', true));
    expect(bob).to.deep.equal([joinedAs('bob', true, own('bob'))]);
    const erased = { type: 'MeetingErased', data: { roomId, meetingId, erasedAt: NOON } } as const;
    expect(delivered(hosted, joined('ada', true), left('ada'), ended(), erased)).to.deep.equal({});
  });
});
