/** A chat of which much has happened starts by a snapshot, and does not read all of it again, then or later. */
import { randomUUID } from 'node:crypto';
import { eventually } from '@annals/engines/testing/condition.js';
import { type Servers, startServers } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { connectMongo } from '../../../adapters/mongo/client.js';
import { createWindows } from '../../../adapters/mongo/coordination/checkpoints.js';
import { createSnapshots } from '../../../adapters/mongo/coordination/snapshots.js';
import { rosterAggregate } from '../../../application/chat/aggregates.js';
import type { Kernel } from '../../../bin/node/kernel.js';
import type { Service } from '../../../bin/node/service.js';
import { chat } from '../../../bin/services/chat.js';
import { userSubject } from '../../../domain/chat/events/roster.js';
import { ROSTER } from '../../../domain/chat/roster.js';
import { ask, devLogin } from '../../support/chat-client.js';
import { added, erased, removed, renamed } from '../../support/chat-user-fixtures.js';
import { type RunningNode, startNode } from '../../support/node.js';

const AT_ONCE = 500;
/** Several times what a start may read without a new snapshot, with what it tells again. */
const RENAMES = 12 * AT_ONCE;
/** What a snapshot leaves out at most: what is told again, what is too few for another, and a part of an append. */
const LEFT_OUT = 4 * AT_ONCE;

const renames = (userId: string, done: number) =>
  Array.from({ length: AT_ONCE }, (_, n) => ({
    id: randomUUID(),
    event: renamed(userId, `Name ${done + n + 1}`),
    metadata: {},
  }));

describe('a chat that starts again', function () {
  this.timeout(60_000);
  const database = `test_chat_${randomUUID().slice(0, 8)}`;
  let servers: Servers;
  let node: RunningNode;
  let kernel: Kernel;
  /** Events of streams that were read since it was started. */
  let read = 0;
  /** What it has been told of. */
  const received = new Set<string>();

  const counted: Service<typeof chat.catalog> = {
    ...chat,
    async connect(context) {
      kernel = context.kernel;
      const log = kernel.log as { -readonly [Part in keyof Kernel['log']]: Kernel['log'][Part] };
      const ask = log.read;
      read = 0;
      log.read = async (...asked) => {
        const found = await ask(...asked);
        if (typeof found !== 'string') read += found.length;
        return found;
      };
      const running = await chat.connect(context);
      const hear: (typeof running.handlers)[number] = (event) => {
        received.add(event.type);
        if (event.type === 'UserAdded') received.add(event.data.userId);
      };
      return { ...running, handlers: [...running.handlers, hear] };
    },
  };
  const start = async () => {
    const flags = {
      '--chat-port': '0',
      '--mongo-database': database,
      '--secret': 'a secret that all of its starts have got',
      '--chat-initial-user-email': 'admin@example.org',
      '--auth-is-invite-required': 'false',
    };
    node = await startNode([counted], { servers, flags });
  };
  const restart = async () => {
    await node.stop();
    await start();
  };
  before(async () => {
    servers = await startServers();
    await start();
  });
  after(async () => {
    await node?.stop();
    await servers?.stop();
  });

  it('reads what came since its snapshot, knows everybody, and what was done under a key', async () => {
    const base = () => node.url('chat');
    const admin = await devLogin(base(), 'admin@example.org');
    const called = (userName: string, key: string) =>
      ask(base(), 'PUT', '/users/me', {
        token: admin.token,
        body: { userName },
        headers: { 'Idempotency-Key': key },
      });
    const key = randomUUID();
    const first = await called('Hypatia', key);
    expect(first.status).to.equal(200);
    const { revision } = await kernel.streams.reload(rosterAggregate, ROSTER);
    const positions: bigint[] = [];
    for (let done = 0; done < RENAMES; done += AT_ONCE) {
      const outcome = await kernel.log.append(ROSTER, revision + done, renames(admin.id, done));
      if (outcome.outcome === 'appended') positions.push(outcome.position);
    }
    // All but the last of them are before the window once it has passed them all.
    const position = positions.at(-2)!;
    const covered = positions.at(-1 - LEFT_OUT / AT_ONCE)!;
    const { models, close } = await connectMongo(servers.mongoUrl, database);
    const begins = async () => (await createWindows(models).read('chat'))?.from ?? 0n;
    await eventually(async () => (await begins()) >= position);
    await restart();
    await eventually(async () => ((await createSnapshots(models).read('chat', 1))?.position ?? 0n) >= covered);
    await close();
    await restart();
    expect(read, 'by a snapshot').to.be.lessThan(RENAMES / 2);

    const again = await called('Hypatia', key);
    expect(again.body).to.deep.equal(first.body);
    const { body } = await ask(base(), 'GET', '/users', { token: admin.token });
    expect(body.users.map(({ userName }: { userName: string }) => userName)).to.deep.equal([`Name ${RENAMES}`]);
  });

  it('goes on without reading it all where somebody is erased', async () => {
    const { id } = await devLogin(node.url('chat'), 'bob@example.org');
    const { token } = await devLogin(node.url('chat'), 'admin@example.org');
    const { revision } = await kernel.streams.reload(rosterAggregate, ROSTER);
    // By another process.
    const next = id.replace(/./, (first) => (first === 'x' ? 'y' : 'x'));
    await kernel.vault.create(userSubject({ userId: next }));
    const events = [removed(id), erased(id), added(next)].map((event) => ({
      id: randomUUID(),
      event,
      metadata: {},
    }));
    await kernel.log.append(ROSTER, revision, events);
    await eventually(() => received.has('UserErased') && received.has(next));
    read = 0;
    const { body } = await ask(node.url('chat'), 'GET', '/users', { token });
    const ids = body.users.map((each: { id: string }) => each.id);
    expect(ids).to.include(next).and.not.to.include(id);
    expect(read).to.be.lessThan(100);
  });
});
