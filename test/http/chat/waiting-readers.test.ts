/** Who waits for a page, and does not see its place any more when it is made. */
import { randomUUID } from 'node:crypto';
import { type Servers, startServers } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { adminRoutes } from '../../../adapters/http/chat/admin.js';
import { messageRoutes } from '../../../adapters/http/chat/messages.js';
import { respondWithPage } from '../../../adapters/http/chat/page-response.js';
import type { Caller } from '../../../application/chat/sign-in/authenticate.js';
import { unauthorized } from '../../../application/chat/sign-in/authenticate.js';
import { createBudget } from '../../../application/concurrency/fair-share-budget.js';
import { catalog } from '../../../domain/chat/catalog.js';
import { notAdmin } from '../../../domain/chat/roster.js';
import type { Rejection } from '../../../domain/shared/decider.js';
import { accepted, type ChatNode, readerNamed, startChatNode } from '../../application/chat/node.js';
import { context } from '../../support/toy-service.js';

describe('a page that is waited for', function () {
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
    // It hears nothing of what is done on the first one: it lags behind the log.
    other = await startChatNode(servers, database, { projects: false });
    [ada, bob] = await Promise.all([node.join('ada'), node.join('bob')]);
  });
  after(async () => {
    await other?.stop();
    await node?.stop();
    await servers?.stop();
  });
  beforeEach(async () => {
    const wish = { name: randomUUID(), isPrivate: true, members: [bob.userId] };
    channel = accepted(await node.channels.create(ada, wish, context())).body.channel.id;
  });

  const say = async (content: string) =>
    accepted(await node.messages.post(ada, channel, { content }, context())).body.message.id;
  const out = async () => void accepted(await node.channels.update(ada, channel, { members: [] }, context()));
  const page = (at: ChatNode) => at.reading.messages(readerNamed(bob.userId), channel, { limit: 500 });

  /** What bob is answered at a node, when this is done while he waits, and who he is by then. */
  async function frames(meanwhile: () => Promise<unknown>, then: Caller | Rejection = bob, at = node) {
    const reader = { caller: bob, request: { bearer: 'his' }, guards: { user: async () => then } };
    return respondWithPage(
      reader as never,
      (who, seen) => at.visibility.channel(who, channel, seen),
      async () => {
        await meanwhile();
        await say('about bob');
        // Once the rows have it.
        await page(node);
        return page(at);
      },
    );
  }

  it('is given to who sees its channel still', async () => {
    expect(await frames(async () => {})).to.include({ status: 200 });
    expect(await frames(async () => {}, bob, other)).to.include({ status: 200 });
  });

  it('is none for whose session has ended', async () => {
    expect(await frames(async () => {}, unauthorized)).to.equal(unauthorized);
  });

  it('is none for who was taken out: it shows what was said since', async () => {
    expect(await frames(out)).to.include({ kind: 'not-found' });
  });

  it('is none for who was taken out on another node, of which nothing was heard here yet', async () => {
    expect(await frames(out, bob, other)).to.include({ kind: 'not-found' });
  });

  it('is none of a message’s versions either, nor of its thread', async () => {
    const messageId = await say('about ada');
    const reader = { request: {}, caller: bob, guards: { user: async () => bob } };
    const history = async (...asked: Parameters<typeof other.history>) => {
      await out();
      accepted(await node.messages.edit(ada, messageId, { content: 'about bob' }, context()));
      return other.history(...asked);
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

  it('is none of the audit log for who is no admin any more by the log up to what it shows', async () => {
    const admin = async ({ ifPosition = 0n }) => (ifPosition < 9n ? ada : notAdmin);
    const audit = { list: async () => ({ position: 9n, pieces: async function* () {} }) };
    const deps = { audit, guards: { user: admin, admin }, downloads: createBudget('few', 100) };
    const [route] = adminRoutes(deps as never);
    const request = { query: {}, method: 'GET', signal: new AbortController().signal };
    expect(await route!.handle(request as never, ada)).to.equal(notAdmin);
  });

  it('is one that was waited for also where it comes from memory, once the feed has told of the last', async () => {
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
    const ids = [await say('one'), await say('two'), await say('three')];
    const newest = { limit: 2 };
    const older = { limit: 1, before: ids[1]! };
    const shown = async (range: object) =>
      accepted(await node.reading.messages(readerNamed(bob.userId), channel, range as never));
    for (const range of [newest, older]) {
      await shown(range);
      expect(await shown(range), 'from memory').to.include({ fromCache: true });
      isHeld = new Promise((resolve) => {
        go = resolve;
      });
      await say('more');
      const waiting = shown(range);
      const asked = node.finds();
      go();
      expect(await waiting).not.to.have.property('fromCache');
      expect(node.finds(), 'from memory').to.equal(asked);
    }
    stop.abort();
    await feeding;
  });
});
