/** What is said in meetings on its way into the log: appended in order, kept for a time, known by when it was said. */
import { silentLogger } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { createGroupCommit } from '../../../application/command/group-commit.js';
import { createMeetingChat } from '../../../application/meeting/chat-messages.js';
import { type EventLog, UnavailableError } from '../../../application/ports/index.js';
import { catalog, meetingSubject } from '../../../domain/meeting/catalog.js';
import { chatSent } from '../../../domain/meeting/meeting-chat.js';
import { room } from '../../../domain/meeting/room.js';
import { isRejection } from '../../../domain/shared/decider.js';
import { specOf } from '../../support/decider-spec.js';
import { hosted, joined, meetingId, NOON, requested, roomId } from '../../support/meeting-fixtures.js';
import { failure } from '../../support/memory-ingest.js';
import { memoryKernel, memoryWorld } from '../../support/memory-kernel.js';
import { context } from '../../support/toy-service.js';

const HOUR_MS = 3_600_000;

describe('what is said in a meeting', () => {
  const clock = { now: () => now };
  let now: number;
  let retained: (readonly [stream: string, seconds: number | undefined])[];
  let kernel: ReturnType<typeof memoryKernel>;
  let world: ReturnType<typeof memoryWorld>;
  beforeEach(async () => {
    now = NOON;
    retained = [];
    world = memoryWorld();
    kernel = memoryKernel(world, [catalog], clock);
    await kernel.vault.create(meetingSubject({ meetingId }));
  });

  const state = specOf(room).after([hosted, joined('ada', true), joined('bob'), requested('dan')]);
  const talkOver = (log: Partial<EventLog> = {}) => {
    const retain: EventLog['retain'] = async (stream, { maxAgeSeconds }) => void retained.push([stream, maxAgeSeconds]);
    const whole = { ...kernel.log, retain, ...log };
    return createMeetingChat({
      log: whole,
      appender: createGroupCommit({ log: whole, logger: silentLogger, appended: () => {} }),
      clock,
      node: 'north',
      release: 'test',
      retentionSeconds: 60,
      room: (id) => (id === roomId ? state : undefined),
    });
  };
  const says = (talk: ReturnType<typeof talkOver>, participantId: string, room = roomId) => {
    const say = talk.createSender({ roomId: room, participantId });
    return (text: string) => say((saying) => chatSent(saying, text), context());
  };
  const done = async (said: ReturnType<ReturnType<typeof says>>) => {
    if (isRejection(said)) throw new Error(said.rejected);
    return said;
  };
  const written = () =>
    Promise.all(
      world.all.map(async ({ streamId, data }) => {
        const { secret, sentAt } = data as { secret: string; sentAt: number };
        const opened = await kernel.vault.open(meetingSubject({ meetingId }), secret);
        return [streamId, sentAt - NOON, (opened as { text: string }).text] as const;
      }),
    );
  const stream = 'meeting.talk-north-2027-01-15-08';

  it('stands sealed in a stream of the node and the hour, which keeps it for as long as is wanted', async () => {
    const ada = says(talkOver(), 'ada');
    await done(ada('Hello'));
    await done(ada('Bye'));
    expect(retained).to.deep.equal([[stream, 60]]);
    expect((await written()).map(([name, , text]) => [name, text])).to.deep.equal([
      [stream, 'Hello'],
      [stream, 'Bye'],
    ]);
    expect(JSON.stringify(world.all.map(({ data }) => data))).not.to.include('Hello');
  });

  it('counts while it waits, by its bytes and what it takes besides, and no longer', async () => {
    const talk = talkOver();
    const ada = says(talk, 'ada');
    const both = [done(ada('Hello')), done(ada('x'.repeat(1000)))];
    expect(talk.waiting.used()).to.be.within(2 * 1024 + 1000, 4 * 1024);
    expect(talk.waiting.limit).to.equal(32 * 1024 * 1024);
    await Promise.all(both);
    expect(talk.waiting.used()).to.equal(0);
    const broken = talkOver({ append: async () => Promise.reject(new Error('broken')) });
    expect(String(await failure(done(says(broken, 'bob')('Lost'))))).to.include('broken');
    expect(broken.waiting.used()).to.equal(0);
  });

  it('is never said at one time by one person, though the clock stands still or goes back', async () => {
    const talk = talkOver();
    const [ada, bob] = [says(talk, 'ada'), says(talk, 'bob')];
    await Promise.all([done(ada('a')), done(ada('b')), done(bob('c'))]);
    now -= 10;
    await done(ada('d'));
    expect((await written()).map(([, at, text]) => [text, at])).to.deep.equal([
      ['a', 0],
      ['b', 1],
      ['c', 0],
      ['d', 2],
    ]);
  });

  it('stays in order when an hour begins, however long the append before it takes', async () => {
    let go = () => {};
    const held = new Promise<void>((resolve) => {
      go = resolve;
    });
    const ada = says(
      talkOver({
        append: async (name, expected, events) => {
          if (name === stream) await held;
          return kernel.log.append(name, expected, events);
        },
      }),
      'ada',
    );
    const first = done(ada('before'));
    await new Promise(setImmediate);
    now += HOUR_MS;
    const second = done(ada('after'));
    // It would be there by now.
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
    go();
    await Promise.all([first, second]);
    expect((await written()).map(([name, , text]) => [name, text])).to.deep.equal([
      [stream, 'before'],
      [stream.replace(/08$/, '09'), 'after'],
    ]);
  });

  it('is not said without a time to keep it, and said again once there can be one', async () => {
    let isAway = true;
    const retain: EventLog['retain'] = async () => {
      if (isAway) throw new UnavailableError('away');
    };
    const ada = says(talkOver({ retain }), 'ada');
    expect(await failure(done(ada('lost')))).to.be.instanceOf(UnavailableError);
    isAway = false;
    await done(ada('kept'));
    expect((await written()).map(([, , text]) => text)).to.deep.equal(['kept']);
  });

  it('is not said by who is not inside', () => {
    const talk = talkOver();
    for (const say of [says(talk, 'eve'), says(talk, 'dan'), says(talk, 'ada', 'OTHER1')])
      expect(say('Hello')).to.include({ rejected: 'meeting/not-joined' });
  });
});
