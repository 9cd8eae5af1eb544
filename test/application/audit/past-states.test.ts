/** Past states of each kind of thing, with what has been erased since shown as erased. */
import { analyticsThings } from '../../../application/analytics/past-states.js';
import { chatThings } from '../../../application/chat/admin/past-states.js';
import { logsThings } from '../../../application/logs/alerts/past-states.js';
import { meetingThings } from '../../../application/meeting/past-states.js';
import { roomsThings } from '../../../application/rooms/past-states.js';
import { catalog as analytics } from '../../../domain/analytics/catalog.js';
import { SITES, sites } from '../../../domain/analytics/sites.js';
import { catalog as chat } from '../../../domain/chat/catalog.js';
import { CHANNELS, channels } from '../../../domain/chat/channels.js';
import { message, messageStream } from '../../../domain/chat/message.js';
import { ROSTER } from '../../../domain/chat/roster.js';
import { ALERT_POLICY_STREAM } from '../../../domain/logs/alert-events.js';
import { alertPolicy } from '../../../domain/logs/alert-policy.js';
import { catalog as logs } from '../../../domain/logs/catalog.js';
import { catalog as meeting } from '../../../domain/meeting/catalog.js';
import { room as meetingRoom } from '../../../domain/meeting/room.js';
import { roomStream as meetingStream } from '../../../domain/meeting/state.js';
import { catalog as rooms } from '../../../domain/rooms/catalog.js';
import { roomStream } from '../../../domain/rooms/room.js';
import { changeSite, deleteSite, registerSite } from '../../support/analytics-fixtures.js';
import * as said from '../../support/chat-fixtures.js';
import { ADA, asUser, BOB, CHANNEL, CYD, DIRECT, NOON } from '../../support/chat-fixtures.js';
import { added, erased, renamed, roleChanged } from '../../support/chat-user-fixtures.js';
import * as meets from '../../support/meeting-fixtures.js';
import { decided, NOW, pastStateSpec } from '../../support/past-state-spec.js';
import * as roomed from '../../support/room-fixtures.js';

const KINDS = [...chatThings, ...roomsThings, ...meetingThings, ...analyticsThings, ...logsThings];
const spec = () => pastStateSpec([chat, rooms, meeting, analytics, logs], KINDS);

const ID = 'm'.padEnd(22, '0');
const own = <Command extends object>(command: Command) => ({ ...command, messageId: ID });

describe('a past state', () => {
  describe('of a message', () => {
    const thing = `message:${ID}`;
    const [posted, edited, reacted, pinned] = [
      own(said.postMessage('first')),
      own(said.editMessage('second')),
      own(said.react('+1')),
      own(said.pin()),
    ];
    const deleted = own(said.deleteMessage());

    it('is its text with edits, reactions and pin at that time', async () => {
      const { given, at } = spec();
      const events = decided(message, posted, edited, reacted, pinned);
      const [t1 = 0, t2 = 0, t3 = 0, t4 = 0] = await given(messageStream(ID), ...events);
      const place = { id: ID, channelId: CHANNEL, author: ADA, createdAt: new Date(NOON).toISOString() };
      await at(t1, thing).then({
        ...place,
        content: 'first',
        edits: 0,
        updatedAt: null,
        pinnedAt: null,
        reactions: {},
      });
      await at(t2 - 1, thing).then({ content: 'first' });
      await at(t2, thing).then({ content: 'second', edits: 1, updatedAt: new Date(NOON + 1).toISOString() });
      await at(t3, thing).then({ content: 'second', pinnedAt: null, reactions: { '+1': [BOB] } });
      await at(t4, thing).then({ pinnedAt: new Date(NOON + 2).toISOString() });
      await at(NOW, thing).then({ content: 'second' });
      await at(t1 - 1, thing).thenRefused('audit/not-yet', new RegExp(new Date(t1).toISOString()));
    });

    it('is of a prefix of its events, also where the clock of the store was set back', async () => {
      const { given, at, timesSet } = spec();
      const [t1 = 0, t2 = 0] = await given(messageStream(ID), ...decided(message, posted, edited, reacted));
      timesSet.set(2, t1);
      await at(t1, thing).then({ content: 'first', reactions: {} });
      await at(t2, thing).then({ content: 'second', reactions: { '+1': [BOB] } });
    });

    it('is erased once it is deleted, before and after its events are gone', async () => {
      const { given, at, kernel } = spec();
      const [t1 = 0, t2 = 0, t3 = 0] = await given(messageStream(ID), ...decided(message, posted, edited, deleted));
      const deletion = { id: ID, channelId: CHANNEL, author: ADA, deletedBy: ADA };
      for (const forget of [async () => {}, () => kernel.log.retain(messageStream(ID), { maxCount: 1 })]) {
        await forget();
        await at(t1, thing).thenRefused('audit/erased');
        await at(t2, thing).thenRefused('audit/erased');
        await at(t3, thing).then({ ...deletion, deletedAt: new Date(NOON + 9).toISOString() });
      }
      await kernel.log.tombstone(messageStream(ID));
      await at(t3, thing).thenRefused('audit/erased', new RegExp(ID));
    });

    it('has no text once the key of its channel is destroyed', async () => {
      const { given, at, kernel } = spec();
      const [, t2 = 0] = await given(messageStream(ID), ...decided(message, posted, reacted));
      await kernel.vault.destroy(`chat.channel-${CHANNEL}`);
      await at(t2, thing).then({ author: ADA, content: '(erased)', reactions: '(erased)' }, true);
    });

    it('of a conversation is visible to its participants and the operator only', async () => {
      const { given, at } = spec();
      const direct = own(said.postMessage('between us', { channelId: DIRECT }));
      const [t1 = 0] = await given(messageStream(ID), ...decided(message, direct));
      for (const viewer of [ADA, BOB, undefined]) await at(t1, thing, viewer).then({ content: 'between us' });
      await at(t1, thing, CYD).thenRefused('audit/not-found');
    });
  });

  it('of a channel is its name, topic and members at that time', async () => {
    const { given, at, kernel } = spec();
    const made = said.createChannel('General', { topic: 'Everything', members: [BOB] });
    const others = [said.createChannel('Other'), said.createWebhook('Bot')];
    const renaming = said.updateChannel({ name: 'Plans', members: [ADA, CYD] });
    const events = decided(channels, made, ...others, renaming, said.deleteChannel());
    const times = await given(CHANNELS, ...events);
    const [t1 = 0, t2 = 0, , t4 = 0, t5 = 0] = times;
    const thing = `channel:${CHANNEL}`;
    await at(t2, thing).then({ id: CHANNEL, name: 'General', topic: 'Everything', members: [ADA, BOB] });
    await at(t4, thing).then({ name: 'Plans', members: [ADA, CYD], isPrivate: false });
    await at(t5, thing).then({ id: CHANNEL, deletedBy: ADA });
    await at(t1, 'channel:other').thenRefused('audit/not-yet');
    await at(t2, 'channel:other').then({ name: 'Other', topic: '' });
    await kernel.vault.destroy(`chat.channel-${CHANNEL}`);
    await at(t4, thing).then({ name: '(erased)', topic: '(erased)', members: [ADA, CYD], createdBy: ADA }, true);
    await at(t4, 'channel:other').then({ name: 'Other' });
  });

  it('of a user is their name and role at that time, and erased with the user', async () => {
    const { given, at, kernel } = spec();
    const events = [added('ada'), added('bob'), renamed('bob', 'Robert'), roleChanged('bob', true), erased('bob')];
    const [t1 = 0, t2 = 0, t3 = 0, t4 = 0, t5 = 0] = await given(ROSTER, ...events);
    await at(t2, 'user:bob').then({ id: 'bob', userName: 'bob', email: 'bob@example.org', isAdmin: false });
    await at(t3, 'user:bob').then({ userName: 'Robert', isAdmin: false });
    await at(t4, 'user:bob').then({ userName: 'Robert', isAdmin: true, isRemoved: false });
    await kernel.vault.destroy('chat.user-bob');
    for (const time of [t2, t3, t4]) await at(time, 'user:bob').then({ userName: '(erased)', email: '(erased)' }, true);
    await at(t5, 'user:bob').then({ userName: '(erased)', isRemoved: true }, true);
    await at(t1, 'user:bob').thenRefused('audit/not-yet');
    await at(t5, 'user:ada').then({ userName: 'ada' });
  });

  it('of a room has its participants, and whether it is open at that time', async () => {
    const { given, at, kernel } = spec();
    const { roomId, created, joined, invited, redeemed, burned } = roomed;
    const events = [created, joined('ada', 'Ada'), invited('i'), redeemed('i', 'bob'), joined('bob', 'Bob'), burned];
    const times = await given(roomStream(roomId), ...events);
    const [, t2 = 0, t3 = 0, , t5 = 0, t6 = 0] = times;
    const thing = `room:${roomId}`;
    const person = (id: string, name: string) => ({ id, name, joinedAt: new Date(NOON).toISOString() });
    await at(t2, thing).then({ status: 'open', participants: [person('ada', 'Ada')], invites: 0 });
    await at(t3, thing).then({ invites: 1, unusedInvites: 1 });
    await at(t5, thing).then({ participants: [person('ada', 'Ada'), person('bob', 'Bob')], unusedInvites: 0 });
    await at(t6, thing).then({ status: 'burned', participants: [] });
    await kernel.vault.destroy(roomStream(roomId));
    await at(t2, thing).then({ status: 'open', participants: [person('ada', '(erased)')] }, true);

    const unburned = spec();
    await unburned.given(roomStream(roomId), created);
    await unburned.at(NOON + roomed.HOUR, thing).then({ status: 'expired' });
  });

  it('of a meeting room has its participants, and is erased with its meeting only', async () => {
    const { given, at, kernel } = spec();
    const { roomId, openRoom, joinRoom, leaveRoom } = meets;
    const commands = [openRoom({ title: 'Plans' }), joinRoom('p1'), joinRoom('p2'), leaveRoom('p1'), leaveRoom('p2')];
    const end = { type: 'EndRoom' as const, roomId, now: NOON + 100 * meets.DAY };
    const later = [openRoom({ meetingId: 'second', now: end.now }), joinRoom('p3', { now: end.now })];
    const events = decided(meetingRoom, ...commands, end, ...later);
    const times = await given(meetingStream(roomId), ...events);
    const timeOf = (type: string, count = 0) => times[events.flatMap((e, i) => (e.type === type ? [i] : []))[count]!]!;
    const thing = `meeting:${roomId.toLowerCase()}`;
    const first = { isOpen: true, meetingId: meets.meetingId, title: 'Plans', hasPassword: false };
    await at(timeOf('ParticipantJoined', 0), thing).then(first);
    await at(timeOf('RoomEnded'), thing).then({ isOpen: false, lastMeetingId: meets.meetingId });
    await kernel.vault.destroy(`meeting.meeting-${meets.meetingId}`);
    await at(timeOf('ParticipantJoined', 1), thing).then({ ...first, title: '(erased)' }, true);
    await at(times.at(-1)!, thing).then({ meetingId: 'second', title: null });
    await kernel.log.retain(meetingStream(roomId), { maxCount: 2 });
    await at(timeOf('ParticipantJoined', 0), thing).thenRefused('audit/erased');
    await at(times.at(-1)!, thing).then({ meetingId: 'second' });
  });

  it('of a site is its settings at that time, of the newest site with this id', async () => {
    const { given, at, kernel } = spec();
    const renaming = changeSite('blog', { name: 'Journal' });
    const again = registerSite('blog', 'two');
    const events = decided(sites, registerSite('blog'), renaming, deleteSite('blog'), again);
    const [t1 = 0, t2 = 0, t3 = 0, t4 = 0] = await given(SITES, ...events);
    await at(t2, 'site:blog').then({ id: 'blog', name: 'Journal', isShared: false });
    await at(t3, 'site:blog').then({ id: 'blog' });
    await kernel.vault.destroy('analytics.site-one');
    await at(t1, 'site:blog').then({ name: '(erased)', domains: '(erased)' }, true);
    await at(t4, 'site:blog').then({ isShared: false });
  });

  it('of the alert policy is its settings at that time', async () => {
    const { given, at } = spec();
    const change = (changes: object) => ({ type: 'ChangeAlertPolicy' as const, changes: { ...changes } });
    const webhookUrl = 'https://hooks.example.org/a';
    const events = decided(alertPolicy, change({ errorThreshold: 7 }), change({ webhookUrl, enabled: true }));
    const [t1 = 0, t2 = 0] = await given(ALERT_POLICY_STREAM, ...events);
    await at(t1, 'policy').then({ enabled: false, errorThreshold: 7, windowMinutes: 5, webhookUrl: null });
    await at(t2, 'policy').then({ enabled: true, webhookUrl });
    await at(t1 - 1, 'policy').thenRefused('audit/not-yet');
  });

  it('is refused for what never existed, for other kinds of things and for a time in the future', async () => {
    const { given, at } = spec();
    await given(CHANNELS, ...decided(channels, said.createChannel()));
    for (const thing of [`message:${ID}`, 'message:no id', 'channel:none', 'user:x', 'room:x', 'meeting:', 'site:x'])
      await at(NOW, thing).thenRefused('audit/not-found');
    for (const thing of ['policy:x', 'policy']) await at(NOW, thing).thenRefused('audit/not-found');
    const kinds = /must be message:<id>, channel:<id>, user:<id>, room:<id>, meeting:<id>, site:<id>, policy$/;
    for (const thing of ['file:x', '', 'constructor:x']) await at(NOW, thing).thenRefused('audit/unknown-kind', kinds);
    await at(NOW + 1, `channel:${CHANNEL}`).thenRefused('audit/in-future');
    await at(NOW, `channel:${CHANNEL}`).then({ name: 'General', members: [ADA], createdBy: asUser(ADA).userId });
  });
});
