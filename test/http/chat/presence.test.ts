/** Presence over HTTP and real event streams, on two nodes. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { connectEventStore } from '../../../adapters/eventstore/client.js';
import { useChat } from '../../support/chat-scenario.js';
import { ask, EventStream, type Member } from '../../support/http-spec.js';

describe('presence of chat users', function () {
  this.timeout(90_000);
  const chat = useChat(2);
  let count = 0;
  const newUser = () => chat.join(`user-${++count}`);
  const put = (who: Member, status: unknown, headers = {}) =>
    ask(chat.base, 'PUT', '/presence/me', { token: who.token, body: { status }, headers });
  const list = async (base = chat.base, headers = {}) =>
    (await ask(base, 'GET', '/presence', { token: chat.admin.token, headers })).body.presence as Entry[];
  const of = async (who: Member, base = chat.base, headers = {}) =>
    (await list(base, headers)).find(({ userId }) => userId === who.id);
  const isAt = (who: Member, status: string, base = chat.base) =>
    eventually(async () => (await of(who, base))?.status === status);
  interface Entry {
    readonly userId: string;
    readonly status: string;
    readonly lastSeen: number;
  }

  it('is offline for users who never connected', async () => {
    const ada = await newUser();
    const entry = await of(ada);
    expect(entry).to.have.keys('userId', 'status', 'lastSeen');
    expect(entry).to.include({ status: 'offline' });
    expect(entry!.lastSeen).to.be.a('number');
  });

  it('is what users set, immediately and on every node', async () => {
    const ada = await newUser();
    for (const status of ['away', 'online', 'offline', 'away']) {
      const before = Date.now();
      const done = await put(ada, status);
      expect(done.status).to.equal(200);
      expect(done.body.presence).to.have.keys('userId', 'status', 'lastSeen');
      expect(done.body.presence).to.include({ userId: ada.id, status });
      expect(done.body.presence.lastSeen).to.be.within(before, Date.now());
      expect(await of(ada)).to.deep.equal(done.body.presence);
      const seen = { 'if-position': done.headers.get('position') ?? '' };
      expect(await of(ada, chat.bases[1], seen)).to.deep.equal(done.body.presence);
    }
  });

  it('accepts only the three statuses', async () => {
    const ada = await newUser();
    for (const status of ['busy', '', 'ONLINE', 7, null, undefined]) {
      const refused = await put(ada, status);
      expect(refused.status, String(status)).to.equal(400);
      expect(refused.body.error).to.be.a('string');
    }
    expect((await ask(chat.base, 'PUT', '/presence/me', { body: { status: 'away' } })).status).to.equal(401);
    expect((await ask(chat.base, 'GET', '/presence')).status).to.equal(401);
  });

  it('is online from the first stream until after the last on all nodes, announced once each', async () => {
    const ada = await newUser();
    const watching = await EventStream.to(chat.bases[1]!, { token: chat.admin.token });
    const one = await EventStream.to(chat.bases[0]!, { token: ada.token });
    await isAt(ada, 'online');
    const two = await EventStream.to(chat.bases[1]!, { token: ada.token });
    one.close();
    const back = await EventStream.to(chat.bases[0]!, { token: ada.token });
    back.close();
    // The user reconnects before the first node's grace period of 10 s ends.
    two.close();
    await isAt(ada, 'offline');
    const about = () => watching.frames.filter(({ payload }) => payload.userId === ada.id);
    await eventually(() => about().length >= 2);
    expect(about().map(({ type, payload }) => [type, payload.status])).to.deep.equal([
      ['PRESENCE_UPDATE', 'online'],
      ['PRESENCE_UPDATE', 'offline'],
    ]);
    const entry = await of(ada);
    expect(about()[1]!.payload).to.deep.equal(entry);
    const [online, offline] = about().map(({ payload }) => payload.lastSeen);
    // The grace period runs from the last stream, not from the first.
    expect(offline - online).to.be.at.least(10_000);
    watching.close();
  });

  it('keeps a status set by hand while other streams open and close', async () => {
    const ada = await newUser();
    const watching = await EventStream.to(chat.base, { token: chat.admin.token });
    const stream = await EventStream.to(chat.base, { token: ada.token });
    await isAt(ada, 'online');
    await put(ada, 'away');
    const other = await EventStream.to(chat.bases[1]!, { token: ada.token });
    other.close();
    await put(ada, 'away');
    expect((await of(ada))!.status).to.equal('away');
    stream.close();
    await isAt(ada, 'offline');
    const again = await EventStream.to(chat.base, { token: ada.token });
    await isAt(ada, 'online');
    again.close();
    const about = () => watching.frames.filter(({ payload }) => payload.userId === ada.id);
    // The list may be updated before the stream delivers the change.
    await eventually(() => about().length >= 4);
    expect(about().map(({ payload }) => payload.status)).to.deep.equal(['online', 'away', 'offline', 'online']);
    watching.close();
  });

  it('keeps only the latest event in the log', async () => {
    const ada = await newUser();
    for (const status of ['away', 'online', 'away', 'online']) await put(ada, status);
    const client = connectEventStore(chat.servers.eventStoreUrl);
    const events: number[] = [];
    for await (const { event } of client.readStream(`chat.presence-${ada.id}`)) events.push(Number(event!.revision));
    await client.dispose();
    expect(events).to.deep.equal([3]);
  });

  it('has no entry for users who left', async () => {
    const ada = await newUser();
    await put(ada, 'online');
    await ask(chat.base, 'POST', '/users/exit', { token: ada.token });
    expect(await of(ada)).to.equal(undefined);
  });

  it('becomes offline for users of a stopped node', async () => {
    const ada = await newUser();
    const stream = await EventStream.to(chat.bases[1]!, { token: ada.token });
    await isAt(ada, 'online');
    await chat.nodes[1]!.stop();
    await isAt(ada, 'offline');
    await eventually(() => stream.ended);
  });
});
