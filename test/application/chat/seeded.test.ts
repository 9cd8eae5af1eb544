/** Who is in the chat, and in which channels, is known to a relay that begins anywhere in the log. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { foldOf } from '../../../adapters/relay/audience.js';
import { chat } from '../../../adapters/relay/chat.js';
import { readSeed } from '../../../application/follow/seed.js';
import type { RecordedEvent } from '../../../application/ports.js';
import { type ChatEvent, catalog } from '../../../domain/chat/catalog.js';
import { CHANNELS, channels } from '../../../domain/chat/channels.js';
import { ROSTER } from '../../../domain/chat/roster.js';
import { added, admin, erased, left, removed, renamed, roleChanged } from '../../support/chat.js';
import {
  ADA,
  asUser,
  BOB,
  CHANNEL,
  createChannel,
  createWebhook,
  deleteChannel,
  deleteWebhook,
  eraseChannel,
  updateChannel,
} from '../../support/chat-messages.js';
import { specOf } from '../../support/decider-spec.js';
import { memoryKernel, memoryWorld } from '../../support/memory-kernel.js';
import { snapshotsInMemory } from '../../support/ports.js';

const people: readonly ChatEvent[] = [
  admin(ADA),
  added(BOB),
  added('cy'),
  added('dee'),
  renamed(BOB, 'Robert'),
  roleChanged(BOB, true),
  roleChanged(BOB, false),
  removed('cy', ADA),
  left('dee'),
  erased('cy'),
];
const places: readonly ChatEvent[] = specOf(channels).run([
  createChannel('General', { channelId: CHANNEL, members: [ADA, BOB] }),
  createChannel('Secret', { channelId: 'two', isPrivate: true }),
  updateChannel({ channelId: CHANNEL, members: [ADA] }),
  updateChannel({ channelId: 'two', members: [ADA, BOB] }),
  createWebhook('Robot'),
  deleteWebhook(),
  deleteChannel(asUser(ADA), CHANNEL),
  eraseChannel(CHANNEL),
]).events;

describe('the audience of the chat, at a start', () => {
  it('is what it was where the window begins, wherever that is', async () => {
    const node = memoryKernel(memoryWorld(), [catalog]);
    const { log, vault } = node;
    const append = async (stream: string, revision: number, event: ChatEvent) => {
      const { sealed } = catalog.events[event.type] as { sealed?: { subject(data: object): string } };
      if (sealed) await vault.create(sealed.subject(event.data));
      const one = { id: randomUUID(), event, metadata: {} };
      await log.append(stream, revision < 0 ? 'none' : revision, [one]);
    };
    for (let n = 0; n < Math.max(people.length, places.length); n++) {
      if (people[n]) await append(ROSTER, n - 1, people[n]!);
      if (places[n]) await append(CHANNELS, n - 1, places[n]!);
    }
    const { snapshots } = snapshotsInMemory();
    const { signal } = new AbortController();
    const reveal = (event: RecordedEvent) => node.reveal(catalog, event);
    const read = await node.follow({ prefixes: ['chat.'], from: 'start', signal }).next();
    const { evolve, initialState, ...fold } = foldOf(chat);
    let state = initialState;
    for (const event of read.value.events) {
      state = evolve(state, await reveal(event));
      const window = { horizon: event.position, from: event.position };
      const ports = { ...node, reveal, snapshots, signal };
      const seed = await readSeed('chat', { ...fold, evolve, initialState }, window, ports);
      expect(seed.state, `at ${event.type}`).to.deep.equal(state);
    }
    // Whatever the audience folds stands in those two.
    expect(new Set(read.value.events.map(({ type }: RecordedEvent) => type)).size).to.equal(
      fold.types.length,
    );
  });
});
