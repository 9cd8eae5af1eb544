/** Access is checked again when a search has its hits, because it may have been revoked meanwhile. */
import { expect } from 'chai';
import { searchRoutes } from '../../../adapters/http/chat/search.js';
import { createSearch, type SearchQuery } from '../../../application/chat/search/search-messages.js';
import { type Caller, unauthorized } from '../../../application/chat/sign-in/authenticate.js';
import { UnavailableError } from '../../../application/ports/index.js';
import { roster } from '../../../domain/chat/roster.js';
import type { Rejection } from '../../../domain/shared/decider.js';

const [BOB, EVE] = ['b', 'e'].map((letter) => letter.repeat(22)) as [string, string];

describe('rechecking access to search hits', () => {
  const bob: Caller = { userId: BOB, userName: 'bob', isAdmin: false, sessionId: 's' };
  const channel = (id: string, members: readonly string[]) => [id, { id, isPrivate: true, members }] as const;
  const [member, outsider] = [[channel('hidden', [BOB])], [channel('hidden', [])]];
  const indexed = [['about bob', 'hidden'] as const, ['his own', `dm:${BOB}_${EVE}`] as const];

  /** The hits of a caller who reauthenticates as `then`. `received`: the log position this node has processed. */
  async function found(
    who: Caller,
    { then = who as Caller | Rejection, before = member, after = member, received = 100n } = {},
  ) {
    let isFound = false;
    const load = async (_: unknown, __: string, seen = 0n) => {
      const isKnown = isFound && (received >= 9n || seen >= 9n);
      return { state: { channels: new Map<string, object>(isKnown ? after : before) } };
    };
    const find = async ({ isVisible }: SearchQuery) => {
      isFound = true;
      const hits = indexed.map(([content, channelId]) => ({
        id: 'm',
        channelId,
        author: EVE,
        createdAt: 1,
        content,
      }));
      return hits.filter(({ channelId }) => isVisible(channelId));
    };
    const projectionProgress = {
      latestOf: () => 0n,
      latest: () => 0n,
      wait: async () => true,
      position: () => (isFound ? 9n : 1n),
    };
    const admission = { load, roster: async () => ({ state: roster.initialState }) };
    const search = createSearch({ index: { find }, projectionProgress, admission } as never);
    const [route] = searchRoutes({ user: async () => then, admin: async () => then }, search);
    const answer = await route!.handle({ query: { q: 'b', limit: 50 } } as never, who);
    if (!('text' in answer)) return answer;
    return JSON.parse(String(answer.text)).messages.map(({ content }: { content: string }) => content);
  }

  it('returns hits that the caller still sees', async () => {
    expect(await found(bob)).to.deep.equal(['about bob', 'his own']);
  });

  it('drops hits of a channel that the caller was removed from', async () => {
    expect(await found(bob, { after: outsider })).to.deep.equal(['his own']);
    expect(await found(bob, { after: outsider, received: 1n })).to.deep.equal(['his own']);
  });

  it('drops hits of former admins, and rejects ended sessions', async () => {
    const admin = { ...bob, isAdmin: true };
    const all = { before: outsider, after: outsider };
    expect(await found(admin, all)).to.deep.equal(['about bob', 'his own']);
    expect(await found(admin, { ...all, then: bob })).to.deep.equal(['his own']);
    expect(await found(admin, { ...all, then: unauthorized })).to.equal(unauthorized);
  });

  it('leaves the queue when its client disconnects', async () => {
    let started = 0;
    let finish = () => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const find = async () => {
      started++;
      await finished;
      return [];
    };
    const projectionProgress = { latestOf: () => 0n, latest: () => 0n, wait: async () => true, position: () => 1n };
    const admission = {
      load: async () => ({ state: { channels: new Map() } }),
      roster: async () => ({ state: roster.initialState }),
    };
    const search = createSearch({ index: { find }, projectionProgress, admission } as never);
    const [route] = searchRoutes({ user: async () => bob, admin: async () => bob }, search);
    const ask = async (signal = new AbortController().signal) =>
      route!.handle({ query: { q: 'b', limit: 50 }, signal } as never, bob);
    const others = Array.from({ length: 8 }, () => ask());
    await new Promise(setImmediate);
    const client = new AbortController();
    const outcome = ask(client.signal).catch((error: unknown) => error);
    await new Promise(setImmediate);
    client.abort();
    // Before the other searches finish.
    const first = await Promise.race([outcome, new Promise((resolve) => setTimeout(resolve, 1000, 'still queued'))]);
    finish();
    await Promise.all([...others, outcome]);
    expect(first).to.be.instanceOf(UnavailableError);
    expect(started).to.equal(8);
  });
});
