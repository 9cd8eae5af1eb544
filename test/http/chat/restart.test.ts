/** A chat with a long history starts from a snapshot, and does not read the whole history again. */
import { randomUUID } from 'node:crypto';
import { eventually } from '@annals/engines/testing/condition.js';
import { type Servers, startServers } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { connectMongo } from '../../../adapters/mongo/client.js';
import { createWindows } from '../../../adapters/mongo/coordination/checkpoints.js';
import { createSnapshots } from '../../../adapters/mongo/coordination/snapshots.js';
import { rosterAggregate } from '../../../application/chat/aggregates.js';
import { snapshot } from '../../../application/chat/audience/state.js';
import type { Kernel } from '../../../bin/node/kernel.js';
import type { Service } from '../../../bin/node/service.js';
import { chat } from '../../../bin/services/chat.js';
import { userSubject } from '../../../domain/chat/events/roster.js';
import { ROSTER } from '../../../domain/chat/roster.js';
import { added, erased, removed, renamed } from '../../support/chat-user-fixtures.js';
import { ask, devLogin } from '../../support/http-spec.js';
import { type RunningNode, startNode } from '../../support/node.js';

const BATCH = 500;
/** Several times what a start may read without a new snapshot. */
const RENAMES = 12 * BATCH;
/** The most that a snapshot leaves out: redelivered events, too few events for another, and part of an append. */
const LEFT_OUT = 4 * BATCH;

const renames = (userId: string, done: number) =>
  Array.from({ length: BATCH }, (_, n) => ({
    id: randomUUID(),
    event: renamed(userId, `Name ${done + n + 1}`),
    metadata: {},
  }));

describe('restart of a chat with a long history', function () {
  this.timeout(60_000);
  const database = `test_chat_${randomUUID().slice(0, 8)}`;
  let servers: Servers;
  let node: RunningNode;
  let kernel: Kernel;
  /** Events read from streams since the start. */
  let read = 0;
  /** Event types and user ids delivered to handlers. */
  const received = new Set<string>();

  const countingChat: Service<typeof chat.catalog> = {
    ...chat,
    async connect(context) {
      kernel = context.kernel;
      const log = kernel.log as { -readonly [Part in keyof Kernel['log']]: Kernel['log'][Part] };
      const readLog = log.read;
      read = 0;
      log.read = async (...request) => {
        const found = await readLog(...request);
        if (typeof found !== 'string') read += found.length;
        return found;
      };
      const running = await chat.connect(context);
      const onEvent: (typeof running.handlers)[number] = (event) => {
        received.add(event.type);
        if (event.type === 'UserAdded') received.add(event.data.userId);
      };
      return { ...running, handlers: [...running.handlers, onEvent] };
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
    node = await startNode([countingChat], { servers, flags });
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

  it('reads events since the snapshot, and still has all users and idempotency keys', async () => {
    const base = () => node.url('chat');
    const admin = await devLogin(base(), 'admin@example.org');
    const rename = (userName: string, key: string) =>
      ask(base(), 'PUT', '/users/me', {
        token: admin.token,
        body: { userName },
        headers: { 'Idempotency-Key': key },
      });
    const key = randomUUID();
    const first = await rename('Hypatia', key);
    expect(first.status).to.equal(200);
    const { revision } = await kernel.aggregates.reload(rosterAggregate, ROSTER);
    const positions: bigint[] = [];
    for (let done = 0; done < RENAMES; done += BATCH) {
      const outcome = await kernel.log.append(ROSTER, revision + done, renames(admin.id, done));
      if (outcome.outcome === 'appended') positions.push(outcome.position);
    }
    // The resume window starts after all but the last appends.
    const position = positions.at(-2)!;
    const covered = positions.at(-1 - LEFT_OUT / BATCH)!;
    const { models, close } = await connectMongo(servers.mongoUrl, database);
    const windowStart = async () => (await createWindows(models).read('chat'))?.from ?? 0n;
    await eventually(async () => (await windowStart()) >= position);
    await restart();
    await eventually(
      async () => ((await createSnapshots(models).read('chat', snapshot.version))?.position ?? 0n) >= covered,
    );
    await close();
    await restart();
    expect(read, 'from a snapshot').to.be.lessThan(RENAMES / 2);

    const again = await rename('Hypatia', key);
    expect(again.body).to.deep.equal(first.body);
    const { body } = await ask(base(), 'GET', '/users', { token: admin.token });
    expect(body.users.map(({ userName }: { userName: string }) => userName)).to.deep.equal([`Name ${RENAMES}`]);
  });

  it('does not read the whole history when a user is erased', async () => {
    const { id } = await devLogin(node.url('chat'), 'bob@example.org');
    const { token } = await devLogin(node.url('chat'), 'admin@example.org');
    const { revision } = await kernel.aggregates.reload(rosterAggregate, ROSTER);
    // As another process would.
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
