/** Meeting chat: encrypted in hour streams of the node, in order, with unique times per sender. */
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

describe('meeting chat', () => {
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
  const chatOver = (log: Partial<EventLog> = {}) => {
    const retain: EventLog['retain'] = async (stream, { maxAgeSeconds }) => void retained.push([stream, maxAgeSeconds]);
    const whole = { ...kernel.log, retain, ...log };
    return createMeetingChat({
      log: whole,
      appender: createGroupCommit({ log: whole, logger: silentLogger, appended: () => {} }),
      clock,
      node: 'north',
      release: 'test',
      retentionSeconds: 60,
      rooms: () => ({ get: (id) => (id === roomId ? state : undefined) }),
    });
  };
  const senderOf = (chat: ReturnType<typeof chatOver>, participantId: string, room = roomId) => {
    const send = chat.createSender({ roomId: room, participantId });
    return (text: string) => send((sender) => chatSent(sender, text), context());
  };
  const done = async (sent: ReturnType<ReturnType<typeof senderOf>>) => {
    if (isRejection(sent)) throw new Error(sent.rejected);
    return sent;
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

  it('is encrypted in a stream per node and hour, with a retention', async () => {
    const ada = senderOf(chatOver(), 'ada');
    await done(ada('Hello'));
    await done(ada('Bye'));
    expect(retained).to.deep.equal([[stream, 60]]);
    expect((await written()).map(([name, , text]) => [name, text])).to.deep.equal([
      [stream, 'Hello'],
      [stream, 'Bye'],
    ]);
    expect(JSON.stringify(world.all.map(({ data }) => data))).not.to.include('Hello');
  });

  it('accounts for the memory of pending messages until they are written', async () => {
    const chat = chatOver();
    const ada = senderOf(chat, 'ada');
    const both = [done(ada('Hello')), done(ada('x'.repeat(1000)))];
    expect(chat.waiting.used()).to.be.within(2 * 1024 + 1000, 4 * 1024);
    expect(chat.waiting.limit).to.equal(32 * 1024 * 1024);
    await Promise.all(both);
    expect(chat.waiting.used()).to.equal(0);
    const broken = chatOver({ append: async () => Promise.reject(new Error('broken')) });
    expect(String(await failure(done(senderOf(broken, 'bob')('Failed'))))).to.include('broken');
    expect(broken.waiting.used()).to.equal(0);
  });

  it('gives each message of a sender a unique time, even if the clock stands still or goes back', async () => {
    const chat = chatOver();
    const [ada, bob] = [senderOf(chat, 'ada'), senderOf(chat, 'bob')];
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

  it('keeps the order of messages across the hour, however long an append takes', async () => {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const ada = senderOf(
      chatOver({
        append: async (name, expected, events) => {
          if (name === stream) await released;
          return kernel.log.append(name, expected, events);
        },
      }),
      'ada',
    );
    const first = done(ada('before'));
    await new Promise(setImmediate);
    now += HOUR_MS;
    const second = done(ada('after'));
    // Without ordering, the second append would have finished by now.
    for (let round = 0; round < 50; round++) await new Promise(setImmediate);
    release();
    await Promise.all([first, second]);
    expect((await written()).map(([name, , text]) => [name, text])).to.deep.equal([
      [stream, 'before'],
      [stream.replace(/08$/, '09'), 'after'],
    ]);
  });

  it('stores nothing while retention cannot be set, and continues afterwards', async () => {
    let isAway = true;
    const retain: EventLog['retain'] = async () => {
      if (isAway) throw new UnavailableError('away');
    };
    const ada = senderOf(chatOver({ retain }), 'ada');
    expect(await failure(done(ada('failed')))).to.be.instanceOf(UnavailableError);
    isAway = false;
    await done(ada('stored'));
    expect((await written()).map(([, , text]) => text)).to.deep.equal(['stored']);
  });

  it('rejects senders who are not in the room', () => {
    const chat = chatOver();
    for (const send of [senderOf(chat, 'eve'), senderOf(chat, 'dan'), senderOf(chat, 'ada', 'OTHER1')])
      expect(send('Hello')).to.include({ rejected: 'meeting/not-joined' });
  });
});
