/** One Idempotency-Key on two nodes at the same moment and after restarts: processes that share the engines. */
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { call, type Entered, type StoredMessage } from '../support/room-client.js';
import { newSigner, random, text } from '../support/room-fixtures.js';
import { type Server, startServer } from '../support/server-process.js';

/** Rounds per kind of request and pair of bodies. */
const ROUNDS = 15;

/** A 503 may be repeated as the same request: a busy machine may be late. */
async function whenAvailable<Answer extends { readonly status: number }>(send: () => Promise<Answer>) {
  for (;;) {
    const answer = await send();
    if (answer.status !== 503) return answer;
  }
}

interface RepeatedRequest {
  readonly path: string;
  readonly token?: string;
  /** The second body; differs from the first in rounds with two bodies. */
  readonly bodies: readonly [object, object];
}

describe('an Idempotency-Key across nodes', function () {
  this.timeout(120_000);
  const directory = temporaryDirectory();
  let nodes: Server[] = [];
  const flags = ['rooms', 'logs', '--rooms-create-per-hour', '100000'];
  const start = async () => {
    // The first node starts the engines.
    const first = await startServer(directory.path, flags);
    nodes = [first, await startServer(directory.path, flags)];
  };
  const stop = async () => {
    for (const node of nodes.reverse()) await node.stop();
    nodes = [];
  };
  before(start);
  after(async () => {
    await stop();
    directory.remove();
  });

  const base = (node: number, service = 'rooms') => nodes[node]?.urls[service] ?? '';
  async function ask(node: number, path: string, key: string, body: object, token?: string, service = 'rooms') {
    const send = () =>
      fetch(base(node, service) + path, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'idempotency-key': key,
          ...(token ? { authorization: `Bearer ${token}` } : {}),
        },
        body: JSON.stringify(body),
      });
    const response = await whenAvailable(send);
    const position = response.headers.get('position') ?? '';
    return { status: response.status, position, text: await response.text() };
  }

  const person = async (participantName: string) => ({
    participantName,
    signingPublicKey: (await newSigner()).publicKey,
  });
  const makeRoom = async () => {
    const ada = await person('Ada');
    const { status, body } = await whenAvailable(() => call<Entered>(base(0), 'POST', '/rooms', { body: ada }));
    expect(status, JSON.stringify(body)).to.equal(201);
    return body;
  };
  const envelope = (ciphertext: string) => ({
    keyVersion: 1,
    messageIndex: 0,
    chainId: text(random(8)),
    chainKeyNonce: 'bm9uY2U',
    chainKeyCiphertext: 'a2V5',
    nonce: 'bm9uY2Uy',
    ciphertext,
    signature: 'c2lnbmF0dXJl',
  });

  /** The request, and how often its effect may be in the room afterwards. */
  const kinds: {
    readonly [what: string]: () => Promise<RepeatedRequest & { count?: (seen: string) => Promise<number> }>;
  } = {
    create: async () => ({ path: '/rooms', bodies: [await person('Ada'), await person('Eve')] }),
    async invite() {
      const { roomId, sessionToken: token } = await makeRoom();
      const body = () => ({ inviteToken: text(random(16)) });
      return { path: `/rooms/${roomId}/invites`, token, bodies: [body(), body()] };
    },
    async join() {
      const { roomId, sessionToken: token } = await makeRoom();
      const inviteToken = text(random(16));
      const invited = await call(base(1), 'POST', `/rooms/${roomId}/invites`, {
        token,
        body: { inviteToken },
      });
      expect(invited.status, JSON.stringify(invited.body)).to.equal(200);
      return {
        path: `/rooms/${roomId}/join`,
        bodies: [
          { ...(await person('Bob')), inviteToken },
          { ...(await person('Joe')), inviteToken },
        ],
        count: async (seen) => (await state(roomId, token, seen)).participants.length - 1,
      };
    },
    async post() {
      const { roomId, sessionToken: token } = await makeRoom();
      return {
        path: `/rooms/${roomId}/messages`,
        token,
        bodies: [envelope('aGVsbG8'), envelope('d29ybGQ')],
        count: async (seen) => (await state(roomId, token, seen)).messages.length,
      };
    },
    async burn() {
      const { roomId, sessionToken: token } = await makeRoom();
      return { path: `/rooms/${roomId}/burn`, token, bodies: [{}, {}] };
    },
  };
  const state = async (roomId: string, token: string, seen: string) =>
    (
      await call<Pick<Entered, 'participants'> & { messages: StoredMessage[] }>(
        base(0),
        'GET',
        `/rooms/${roomId}/state`,
        { token, headers: { 'if-position': seen } },
      )
    ).body;

  for (const [what, prepare] of Object.entries(kinds)) {
    it(`returns byte-equal answers on both nodes for one ${what}, and 422 for another body`, async () => {
      const round = async (index: number) => {
        const { path, token, bodies, count } = await prepare();
        // Burning a room has no second body.
        const same = index % 2 === 0 || what === 'burn';
        const key = text(random(12));
        const send = (node: number) => ask(node, path, key, same ? bodies[0] : (bodies[node] ?? {}), token);
        const outcomes = await Promise.all([send(0), send(1)]);
        const taken = outcomes.filter(({ status }) => status < 300);
        if (same) expect(outcomes[1], what).to.deep.equal(outcomes[0]);
        expect(taken, JSON.stringify(outcomes)).to.have.length(same ? 2 : 1);
        if (!same) expect(outcomes.map(({ status }) => status)).to.include(422);
        if (count) expect(await count(taken[0]?.position ?? ''), what).to.equal(1);
        return { path, key, token, body: bodies[outcomes.indexOf(taken[0]!)] ?? {}, first: taken[0] };
      };
      const rounds = await Promise.all(Array.from({ length: 2 * ROUNDS }, (_, index) => round(index)));
      for (const { path, key, token, body, first } of rounds.slice(0, 4)) {
        expect(await ask(0, path, key, body, token)).to.deep.equal(first);
        expect(await ask(1, path, key, body, token)).to.deep.equal(first);
      }
    });
  }

  it('answers for a room that another node has burned', async () => {
    const { roomId, sessionToken: token } = await makeRoom();
    const read = () => call(base(1), 'GET', `/rooms/${roomId}/state`, { token });
    expect((await read()).status).to.equal(200);
    expect((await call(base(0), 'POST', `/rooms/${roomId}/burn`, { token })).status).to.equal(200);
    // The other node learns of it only from the log.
    while ((await read()).status !== 404);
    const post = await call(base(1), 'POST', `/rooms/${roomId}/messages`, {
      token,
      body: envelope('aGVsbG8'),
    });
    expect(post.status).to.equal(404);
  });

  it('is remembered across restarts for creates, also of ended rooms, and for index rebuilds', async () => {
    const [kept, ended] = [await person('Ada'), await person('Eve')];
    const keys = [text(random(12)), text(random(12)), text(random(12))] as const;
    const rebuild = (node: number, key: string) => ask(node, '/api/reindex', key, {}, undefined, 'logs');
    const first = await ask(0, '/rooms', keys[0], kept);
    const burned = JSON.parse((await ask(0, '/rooms', keys[1], ended)).text) as Entered;
    await call(base(1), 'POST', `/rooms/${burned.roomId}/burn`, { token: burned.sessionToken });
    const rebuilt = await rebuild(0, keys[2]);
    expect(rebuilt.status).to.equal(200);
    expect(Number(rebuilt.position)).to.be.above(Number(first.position));
    const check = async () => {
      for (const node of [0, 1]) {
        expect(await ask(node, '/rooms', keys[0], kept)).to.deep.equal(first);
        expect((await ask(node, '/rooms', keys[1], ended)).status).to.equal(404);
        expect(await rebuild(node, keys[2])).to.deep.equal(rebuilt);
      }
    };
    await check();
    await stop();
    await start();
    await check();
    expect((await rebuild(1, text(random(12)))).text).not.to.equal(rebuilt.text);
  });

  it('causes no runtime warnings on the nodes', () => {
    const warnings = nodes.flatMap(({ lines }) => lines).filter((line) => /Warning:/.test(line));
    expect(warnings).to.deep.equal([]);
  });
});
