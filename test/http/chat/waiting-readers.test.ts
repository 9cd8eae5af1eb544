/** Access is checked again when a page is ready, because it may have been revoked while the reader waited. */
import { randomUUID } from 'node:crypto';
import { type Servers, startServers } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { adminRoutes } from '../../../adapters/http/chat/admin.js';
import { respondWithPage } from '../../../adapters/http/chat/auth.js';
import { messageRoutes } from '../../../adapters/http/chat/messages.js';
import type { Caller } from '../../../application/chat/sign-in/authenticate.js';
import { unauthorized } from '../../../application/chat/sign-in/authenticate.js';
import { createBudget } from '../../../application/concurrency/limiters.js';
import { catalog } from '../../../domain/chat/catalog.js';
import { notAdmin } from '../../../domain/chat/roster.js';
import type { Rejection } from '../../../domain/shared/decider.js';
import { accepted, type ChatNode, readerNamed, startChatNode } from '../../application/chat/node.js';
import { context } from '../../support/toy-service.js';

describe('rechecking access to a page', function () {
  this.timeout(60_000);
  let servers: Servers;
  let node: ChatNode;
  let other: ChatNode;
  let ada: Caller;
  let bob: Caller;
  let channel: string;
  before(async () => {
    servers = await startServers();
    const database = `test_${randomUUID().slice(0, 8)}`;
    node = await startChatNode(servers, database);
    // This node projects nothing, so it lags behind the log.
    other = await startChatNode(servers, database, { projects: false });
    [ada, bob] = await Promise.all([node.join('ada'), node.join('bob')]);
  });
  after(async () => {
    await other?.stop();
    await node?.stop();
    await servers?.stop();
  });
  beforeEach(async () => {
    const input = { name: randomUUID(), isPrivate: true, members: [bob.userId] };
    channel = accepted(await node.channels.create(ada, input, context())).body.channel.id;
  });

  const post = async (content: string) =>
    accepted(await node.messages.post(ada, channel, { content }, context())).body.message.id;
  const removeBob = async () => void accepted(await node.channels.update(ada, channel, { members: [] }, context()));
  const page = (at: ChatNode) => at.reading.messages(readerNamed(bob.userId), channel, { limit: 500 });

  /** Bob's answer at a node when `meanwhile` happens while he waits and he reauthenticates as `then`. */
  async function frames(meanwhile: () => Promise<unknown>, then: Caller | Rejection = bob, at = node) {
    const reader = { caller: bob, request: { bearer: 'his' }, guards: { user: async () => then } };
    return respondWithPage(
      reader as never,
      (who, seen) => at.visibility.channel(who, channel, seen),
      async () => {
        await meanwhile();
        await post('about bob');
        // Waits until the read model has the message.
        await page(node);
        return page(at);
      },
    );
  }

  it('answers readers who still see the channel', async () => {
    expect(await frames(async () => {})).to.include({ status: 200 });
    expect(await frames(async () => {}, bob, other)).to.include({ status: 200 });
  });

  it('rejects readers whose session has ended', async () => {
    expect(await frames(async () => {}, unauthorized)).to.equal(unauthorized);
  });

  it('rejects readers who were removed from the channel', async () => {
    expect(await frames(removeBob)).to.include({ kind: 'not-found' });
  });

  it('rejects readers who were removed on another node, before this node has the event', async () => {
    expect(await frames(removeBob, bob, other)).to.include({ kind: 'not-found' });
  });

  it('covers the history and the thread of a message', async () => {
    const messageId = await post('about ada');
    const reader = { request: {}, caller: bob, guards: { user: async () => bob } };
    const history = async (...findsBefore: Parameters<typeof other.history>) => {
      await removeBob();
      accepted(await node.messages.edit(ada, messageId, { content: 'about bob' }, context()));
      return other.history(...findsBefore);
    };
    accepted(await other.visibility.message(bob, messageId));
    const own = { history: history as never, downloads: createBudget('few', 100), quotas: {} };
    const deps = { ...other, ...reader, ...own };
    const versions = messageRoutes(deps as never).find(({ path }) => path.endsWith('/history'))!;
    const request = { params: { messageId }, method: 'GET', signal: new AbortController().signal };
    expect(await versions.handle(request as never, bob)).to.include({ kind: 'not-found' });

    const thread = await respondWithPage(
      reader as never,
      (who, seen) => other.replies.parent(who, messageId, seen),
      () => other.reading.replies(readerNamed(bob.userId), channel, messageId, { limit: 10 }),
    );
    expect(thread).to.include({ kind: 'not-found' });
  });

  it('rejects former admins reading the audit log, at the position of the page', async () => {
    const admin = async ({ ifPosition = 0n }) => (ifPosition < 9n ? ada : notAdmin);
    const audit = { list: async () => ({ position: 9n, pieces: async function* () {} }) };
    const deps = { audit, guards: { user: admin, admin }, downloads: createBudget('few', 100) };
    const [route] = adminRoutes(deps as never);
    const request = { query: {}, method: 'GET', signal: new AbortController().signal };
    expect(await route!.handle(request as never, ada)).to.equal(notAdmin);
  });

  it('serves a page from the cache only after the feed delivered the latest message', async () => {
    const stop = new AbortController();
    let [isHeld, go] = [Promise.resolve(), () => {}];
    const feeding = (async () => {
      const following = { prefixes: ['chat.'], from: 'start' as const, signal: stop.signal };
      for await (const { events } of node.kernel.follow(following))
        for (const event of events) {
          await isHeld;
          const decrypted = await node.kernel.decryptEvent(catalog, event as never);
          for (const handle of node.handlers) handle(decrypted as never);
        }
    })();
    const ids = [await post('one'), await post('two'), await post('three')];
    const newest = { limit: 2 };
    const older = { limit: 1, before: ids[1]! };
    const readPage = async (range: object) =>
      accepted(await node.reading.messages(readerNamed(bob.userId), channel, range as never));
    for (const range of [newest, older]) {
      await readPage(range);
      expect(await readPage(range), 'from memory').to.include({ fromCache: true });
      isHeld = new Promise((resolve) => {
        go = resolve;
      });
      await post('more');
      const waiting = readPage(range);
      const findsBefore = node.finds();
      go();
      expect(await waiting).not.to.have.property('fromCache');
      expect(node.finds(), 'from memory').to.equal(findsBefore);
    }
    stop.abort();
    await feeding;
  });
});
