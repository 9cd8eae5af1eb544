/** The live view of hits: expiring sessions, deleted sites, cursors, and events that cannot be decrypted. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { createLiveHits, LIVE_WINDOW_MS } from '../../../../adapters/realtime/analytics/live-hits.js';
import type { LiveEvent } from '../../../../application/subscription/live-feed.js';
import type { catalog, Hit } from '../../../../domain/analytics/catalog.js';
import { fakeClock, useFakeTimers } from '../../../support/fake-clock.js';
import { eventAt } from '../../../support/memory-ports.js';
import { type Recording, record, types } from '../../../support/toy-service.js';

const HOUR = 3_600_000;

const event = (position: bigint, type: string, data: object) =>
  eventAt(position, type, data as never) as unknown as LiveEvent<typeof catalog>;
const siteDeleted = (position: bigint, instance: string) =>
  event(position, 'SiteDeleted', { siteId: 'a', instance, registeredAt: 1, deletedAt: 2 });
const sessionEnded = (position: bigint, sessionId: string) =>
  event(position, 'SessionEnded', { sessionId, endedAt: 1 });
const paths = ({ sent }: Recording) => sent.map(({ message }) => (message as { path?: string }).path ?? message.type);

describe('live view of hits, ending and resuming', () => {
  let time: ReturnType<typeof fakeClock>;
  let release: () => void;
  let live: ReturnType<typeof createLiveHits>;
  let hitsOf: (position: bigint) => Promise<readonly Hit[]>;
  let failures: number;

  beforeEach(() => {
    time = fakeClock();
    release = useFakeTimers(time);
    failures = 0;
    hitsOf = async (position) => [{ path: `/${position}` }];
    live = createLiveHits({
      hitsOf: ({ position }) => hitsOf(position),
      from: 0n,
      head: async () => 1000n,
      clock: time,
      failed: () => void failures++,
    });
  });
  afterEach(() => {
    live.close();
    release();
  });

  const hits = (position: bigint, instance = 'one') =>
    event(position, 'HitsCollected', {
      siteId: 'a',
      instance,
      collectedAt: time.now(),
      secret: 'x'.repeat(1000),
    });
  function look({ instance = 'one', after, sessionId }: { instance?: string; after?: bigint; sessionId?: string }) {
    const client = record();
    const session = sessionId === undefined ? undefined : { sessionId, expiresAt: time.now() + HOUR };
    live.connect({ instance, after, session }, client);
    return client;
  }

  it('ends with the session that opened it and with no other', () => {
    const [one, two, token] = [look({ sessionId: 'one' }), look({ sessionId: 'two' }), look({})];
    live.publish(sessionEnded(1n, 'one'));
    expect([one, two, token].map((each) => each.ended)).to.deep.equal(['over', undefined, undefined]);
    expect(types(one)).to.deep.equal(['SIGNED_OUT']);
    time.pass(HOUR - 1);
    expect(two.ended).to.equal(undefined);
    time.pass(1);
    expect([types(two), two.ended, token.ended]).to.deep.equal([['SIGNED_OUT'], 'over', undefined]);
  });

  it('continues while its session is renewed', () => {
    const [one, two] = [look({ sessionId: 'one' }), look({ sessionId: 'two' })];
    live.publish(event(1n, 'SessionRefreshed', { sessionId: 'one', expiresAt: time.now() + 2 * HOUR }));
    time.pass(HOUR);
    expect([one.ended, two.ended]).to.deep.equal([undefined, 'over']);
    time.pass(HOUR);
    expect(one.ended).to.equal('over');
  });

  it('ends at once if its session ended during the request', () => {
    live.publish(sessionEnded(1n, 'one'));
    const [gone, other] = [look({ sessionId: 'one' }), look({ sessionId: 'two' })];
    expect([types(gone), gone.ended, other.ended]).to.deep.equal([['SIGNED_OUT'], 'over', undefined]);
  });

  it('ends with its site without affecting others', async () => {
    for (let position = 1n; position <= 4n; position++) live.publish(hits(position, position % 2n ? 'one' : 'two'));
    const [one, two] = [look({}), look({ instance: 'two' })];
    await eventually(() => paths(one).length === 2 && paths(two).length === 2);
    live.publish(siteDeleted(5n, 'one'));
    expect([one.ended, two.ended]).to.deep.equal(['over', undefined]);
    expect(paths(one)).to.deep.equal(['/1', '/3', 'SITE_DELETED']);
    const back = look({ instance: 'two', after: 2n });
    const fresh = look({ instance: 'two' });
    live.publish(hits(6n, 'two'));
    await eventually(() => [two, back, fresh].every((each) => paths(each).at(-1) === '/6'));
    expect([two, back, fresh].map(paths)).to.deep.equal([
      ['/2', '/4', '/6'],
      ['/4', '/6'],
      ['/2', '/4', '/6'],
    ]);
  });

  it('puts the cursor on the last hit of an event, and repeats the event for clients that stopped within it', async () => {
    hitsOf = async (position) => [`/${position}a`, `/${position}b`].map((path) => ({ path: path.padEnd(70_000, '.') }));
    const slow = record();
    slow.reading = false;
    live.connect({ instance: 'one' }, slow);
    live.publish(hits(1n));
    live.publish(hits(2n));
    await eventually(() => slow.sent.length === 1);
    const cursor = slow.cursor()!;
    slow.leave();
    const back = look({ after: cursor });
    await eventually(() => back.sent.length === 4);
    expect(paths(back).map((path) => path.slice(0, 3))).to.deep.equal(['/1a', '/1b', '/2a', '/2b']);
    expect(back.sent.map(({ position }) => position)).to.deep.equal([undefined, 1n, undefined, 2n]);
  });

  it('repeats nothing for cursors within the last minutes, and sends only these to others', async () => {
    live.publish(hits(1n));
    time.pass(LIVE_WINDOW_MS + 1);
    for (let position = 2n; position <= 4n; position++) live.publish(hits(position));
    const [late, back, all] = [look({ after: 0n }), look({ after: 3n }), look({ after: 4n })];
    live.publish(hits(5n));
    await eventually(() => [late, back, all].every((each) => paths(each).at(-1) === '/5'));
    expect([late, back, all].map(paths)).to.deep.equal([['/2', '/3', '/4', '/5'], ['/4', '/5'], ['/5']]);
  });

  it('advances its cursor with events that are not live hits', () => {
    const client = look({});
    live.publish(event(7n, 'SessionRefreshed', { sessionId: 'one', expiresAt: 1 }));
    expect(look({}).cursor()).to.equal(7n);
    const past = hits(8n);
    time.pass(LIVE_WINDOW_MS + 1);
    live.publish(past);
    expect(look({}).cursor()).to.equal(8n);
    expect(client.sent).to.deep.equal([]);
  });

  it('retries events that cannot be decrypted yet, without loss', async () => {
    const opens = hitsOf;
    hitsOf = () => Promise.reject(new Error('away'));
    const client = look({});
    live.publish(hits(1n));
    live.publish(hits(2n));
    await eventually(() => failures === 1);
    hitsOf = opens;
    time.pass(1000);
    await eventually(() => client.sent.length === 2);
    expect(paths(client)).to.deep.equal(['/1', '/2']);
  });

  it('buffers a few megabytes at most', () => {
    for (let position = 1n; position <= 20_000n; position++) live.publish(hits(position));
    expect(live.sizeBytes()).to.be.within(4 * 1024 * 1024, 8 * 1024 * 1024);
  });
});
