/** Chat sessions on several nodes: revocation reaches all of them and closes streams, and sessions expire. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { connectEventStore } from '../../../adapters/eventstore/client.js';
import { type Chats, startChats } from '../../support/chat-scenario.js';
import { type Answered, ask, devLogin, EventStream, type Member } from '../../support/http-spec.js';

const status = ({ status }: Answered) => status;

describe('chat sessions on two nodes', function () {
  this.timeout(60_000);
  let chats: Chats;
  let base: string;
  let other: string;
  before(async () => {
    chats = await startChats(2, { '--auth-is-invite-required': 'false' });
    [base, other] = chats.urls as [string, string];
  });
  after(() => chats?.stop());

  const me = (at: string, token: string, headers = {}) => ask(at, 'GET', '/auth/me', { token, headers });
  const refresh = (at: string, refreshToken: string) => ask(at, 'POST', '/auth/refresh', { body: { refreshToken } });

  it('are valid on the other node immediately, and can be refreshed there', async () => {
    const ada = await devLogin(base, 'ada@example.org');
    expect(status(await me(other, ada.token))).to.equal(200);
    const next = await refresh(other, ada.refreshToken);
    expect(next.status).to.equal(200);
    expect(status(await me(base, next.body.accessToken))).to.equal(200);
    // Concurrent refreshes on two nodes get the same tokens.
    const both = await Promise.all([base, other].map((at) => refresh(at, next.body.refreshToken)));
    expect(both.map(status)).to.deep.equal([200, 200]);
    expect(both[0]!.body.refreshToken).to.equal(both[1]!.body.refreshToken);
  });

  it('are valid on a node that has older sessions of the user cached', async () => {
    for (let round = 0; round < 20; round++) {
      const [signInBase, otherBase] = round % 2 ? [base, other] : [other, base];
      const { token } = await devLogin(signInBase, 'eve@example.org');
      expect(status(await me(otherBase, token))).to.equal(200);
    }
  });

  it('end on both nodes for callers who pass the position, and close their streams', async () => {
    const bob = await devLogin(base, 'bob@example.org');
    const streams = await Promise.all([base, other].map((at) => EventStream.to(at, { token: bob.token })));
    const out = await ask(base, 'POST', '/auth/logout', { token: bob.token });
    const position = { 'if-position': out.headers.get('position')! };
    expect(status(await me(other, bob.token, position))).to.equal(401);
    expect(status(await me(base, bob.token))).to.equal(401);
    expect(status(await refresh(other, bob.refreshToken))).to.equal(401);
    for (const stream of streams) await eventually(() => stream.ended);
  });

  it('are at most three, on whichever nodes users sign in', async () => {
    const four: Member[] = [];
    for (let n = 0; n < 4; n++) four.push(await devLogin(n % 2 ? base : other, 'carol@example.org'));
    for (const at of [base, other]) {
      await eventually(async () => status(await me(at, four[0]!.token)) === 401);
      for (const { token } of four.slice(1)) expect(status(await me(at, token))).to.equal(200);
    }
  });

  describe('expiry', () => {
    let at: string;
    before(async () => {
      const short = { '--auth-refresh-token-expiry-seconds': '2', '--auth-jwt-expiry-seconds': '1' };
      at = (await chats.more(short)).url('chat');
    });

    it('ends tokens, streams and sessions', async () => {
      // On a slow machine the session may expire before the stream opens.
      const { dora, stream } = await eventually(async () => {
        const dora = await devLogin(at, 'dora@example.org');
        return { dora, stream: await EventStream.to(at, { token: dora.token }) };
      });
      await eventually(async () => status(await me(at, dora.token)) === 401);
      await eventually(() => stream.ended);
      expect(status(await refresh(at, dora.refreshToken))).to.equal(401);
      const { token } = await devLogin(base, 'dora@example.org');
      const { body } = await ask(base, 'GET', '/auth/sessions', { token });
      expect(body.sessions).to.have.length(1);
    });

    it('is postponed by refreshing, on every node, and streams stay open', async () => {
      const { eve, streams, refreshed } = await eventually(async () => {
        const eve = await devLogin(at, 'eve@example.org');
        const streams = await Promise.all([at, other].map((each) => EventStream.to(each, { token: eve.token })));
        const refreshed = await refresh(base, eve.refreshToken);
        return refreshed.status === 200 && { eve, streams, refreshed };
      });
      const token = refreshed.body.accessToken;
      const { body } = await ask(base, 'GET', '/auth/sessions', { token });
      const { createdAt } = body.sessions.find((each: { isCurrentSession: boolean }) => each.isCurrentSession);
      // The original expiry time has passed.
      await eventually(() => Date.now() > createdAt + 2500);
      await ask(base, 'PUT', '/users/me', { token, body: { userName: 'Eve herself' } });
      for (const stream of streams) {
        const [frames] = await stream.received(1, 'UPDATE_USER');
        expect(frames!.payload).to.include({ id: eve.id, userName: 'Eve herself' });
        expect(stream.ended).to.equal(false);
        stream.close();
      }
    });

    it('keeps the log stream until the longest session expires, plus a day', async () => {
      const client = connectEventStore(chats.servers.eventStoreUrl);
      const maxAgeOf = async ({ id }: Member) =>
        (await client.getStreamMetadata(`chat.session-${id}`)).metadata?.maxAge;
      try {
        const [short, long] = [await devLogin(at, 'short@example.org'), await devLogin(base, 'long@example.org')];
        expect([await maxAgeOf(short), await maxAgeOf(long)]).to.deep.equal([86_402, 691_200]);
        // The longest expiry time wins, regardless of the order of sessions.
        await devLogin(base, 'short@example.org');
        expect(await maxAgeOf(short)).to.equal(691_200);
        await devLogin(at, 'short@example.org');
        await devLogin(at, 'long@example.org');
        expect([await maxAgeOf(short), await maxAgeOf(long)]).to.deep.equal([691_200, 691_200]);
        const refreshed = await eventually(async () => {
          const other = await devLogin(at, 'refreshed@example.org');
          return status(await refresh(base, other.refreshToken)) === 200 && other;
        });
        expect(await maxAgeOf(refreshed)).to.equal(691_200);
      } finally {
        await client.dispose();
      }
    });

    it('comes earlier after refreshing with a shorter lifetime, and closes streams', async () => {
      const frank = await devLogin(base, 'frank@example.org');
      const streams = await Promise.all([base, other].map((each) => EventStream.to(each, { token: frank.token })));
      expect(status(await refresh(at, frank.refreshToken))).to.equal(200);
      for (const stream of streams) await eventually(() => stream.ended);
      await eventually(async () => status(await me(base, frank.token)) === 401);
    });
  });
});
