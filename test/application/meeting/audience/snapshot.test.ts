/** The meeting audience restores its state at any position of the log, from a snapshot and the tail. */
import { expect } from 'chai';
import fc from 'fast-check';
import { createMeetingAudience } from '../../../../application/meeting/audience/audience.js';
import { catalog, meetingSubject, NAMELESS, type RoomEvent } from '../../../../domain/meeting/catalog.js';
import type { RoomCommand } from '../../../../domain/meeting/commands.js';
import { room } from '../../../../domain/meeting/room.js';
import { roomStream } from '../../../../domain/meeting/state.js';
import { specOf } from '../../../support/decider-spec.js';
import {
  does,
  doesTo,
  hostRoom,
  joined,
  joinRoom,
  leaveRoom,
  meetingId,
  opened,
  openRoom,
  requested,
  roomId,
} from '../../../support/meeting-fixtures.js';
import { interleaved, type Step, starting } from '../../../support/snapshot-spec.js';

const who = fc.constantFrom('ada', 'bob', 'cleo', 'dan');
const command: fc.Arbitrary<RoomCommand> = fc.oneof(
  { weight: 6, arbitrary: who.map((id) => joinRoom(id)) },
  { weight: 3, arbitrary: who.map((id) => hostRoom(id)) },
  fc.constant(openRoom()),
  { weight: 3, arbitrary: who.map((id) => leaveRoom(id)) },
  {
    weight: 6,
    arbitrary: fc
      .tuple(who, fc.constantFrom('RaiseHand', 'LowerHand', 'LockRoom', 'UnlockRoom', 'StartRecording' as const))
      .map(([id, what]) => does(id, what as 'LockRoom')),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(who, who, fc.constantFrom('KickParticipant', 'AdmitUser', 'PromoteParticipant'))
      .map(([by, id, what]) => doesTo(by, what as never, id)),
  },
);

/** Events of a room with the given name, with a meeting id derived from it. */
const eventsIn = (name: string) =>
  fc.array(command, { maxLength: 25 }).map((commands): readonly Step[] =>
    specOf(room)
      .run(commands)
      .events.map(({ type, data }) => ({
        stream: roomStream(name),
        event: { type, data: { ...data, roomId: name, meetingId: `of-${name}` } },
      })),
  );

const begin = () => starting(catalog, createMeetingAudience({ resumeToken: (id) => `token-of-${id}` }));
const step = (event: RoomEvent): Step => ({ stream: roomStream(roomId), event });

describe('the restored audience of meetings', () => {
  it('is the same from a snapshot of any earlier position, even after a meeting is erased', async () => {
    const property = fc.asyncProperty(
      fc.tuple(eventsIn('one'), eventsIn('two')),
      fc.array(fc.nat(1), { maxLength: 60 }),
      fc.nat(60),
      fc.boolean(),
      async (rooms, which, when, isErased) => {
        const steps = interleaved(rooms, which);
        fc.pre(steps.length > 0);
        const { append, writeSnapshot, expectSame, vault } = await begin();
        const positions: bigint[] = [];
        for (const each of steps) positions.push(await append(each));
        const index = when % positions.length;
        await writeSnapshot(positions[index]!);
        if (isErased) await vault.destroy(meetingSubject({ meetingId: 'of-one' }));
        await expectSame(positions.slice(index));
      },
    );
    await fc.assert(property, { numRuns: 100 });
  });

  it('reads only the events after its snapshot, not the streams of rooms', async () => {
    const { append, writeSnapshot, at, read } = await begin();
    let last = 0n;
    for (const event of [opened(), joined('ada', true), joined('bob')]) last = await append(step(event));
    await writeSnapshot(last);
    const position = await append(step(requested('cleo')));
    const { state } = await at(position);
    expect(state.get(roomId)!.people.map(({ name }) => name)).to.deep.equal(['ada', 'bob']);
    expect(state.get(roomId)!.waiting.map(({ name }) => name)).to.deep.equal(['cleo']);
    expect(read.map(({ position }) => position)).to.deep.equal([position]);
  });

  it('has no participants of a meeting of which only MeetingErased is left', async () => {
    const { append, writeSnapshot, at } = await begin();
    let last = 0n;
    for (const event of [opened(), joined('ada', true)]) last = await append(step(event));
    await writeSnapshot(last);
    // The events that ended it have been scavenged.
    const erased = { roomId, meetingId, erasedAt: 1 };
    const position = await append(step({ type: 'MeetingErased', data: erased }));
    expect([...(await at(position)).state]).to.deep.equal([]);
    const other = { ...erased, meetingId: 'earlier' };
    for (const event of [opened(), joined('bob', true)]) last = await append(step(event));
    const { state } = await at(await append(step({ type: 'MeetingErased', data: other })));
    expect(state.get(roomId)!.people).to.have.length(1);
  });

  it('stores no personal data in its snapshot and does not restore erased participants', async () => {
    const { append, writeSnapshot, at, stored, vault } = await begin();
    const named = joined('p1', true);
    const cleopatra = { ...named, data: { ...named.data, secret: { name: 'Cleopatra' } } };
    let last = 0n;
    for (const event of [opened(), cleopatra]) last = await append(step(event));
    await writeSnapshot(last);
    expect(JSON.stringify(stored.get('meeting')!.parts)).not.to.include('Cleopatra');
    const names = async () => (await at(last)).state.get(roomId)!.people.map(({ name }) => name);
    expect(await names()).to.deep.equal(['Cleopatra']);
    await vault.destroy(meetingSubject({ meetingId }));
    expect(await names()).to.deep.equal([NAMELESS]);
  });
});
