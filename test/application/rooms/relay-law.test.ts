/** The relay law for rooms: a page read earlier plus the frames since equals a page read later. */

import { silentLogger } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import fc from 'fast-check';
import { createRelay } from '../../../adapters/realtime/relay/relay.js';
import type { Sink } from '../../../adapters/realtime/relay/sink.js';
import type { RecordedEvent } from '../../../application/ports/index.js';
import { rooms } from '../../../application/rooms/audience.js';
import type { JoinResult } from '../../../application/rooms/commands.js';
import type { RoomView } from '../../../application/rooms/queries.js';
import { audienceFold } from '../../../application/subscription/audience.js';
import { restoreFold } from '../../../application/subscription/fold-snapshots.js';
import { catalog, type RoomsEvent } from '../../../domain/rooms/catalog.js';
import { isRejection } from '../../../domain/shared/decider.js';
import { memoryWorld } from '../../support/memory-kernel.js';
import { snapshotsInMemory } from '../../support/memory-ports.js';
import { envelope, HOUR, NOON, signingPublicKey } from '../../support/room-fixtures.js';
import { context, record, types } from '../../support/toy-service.js';
import { memoryNode } from './memory-node.js';
import { accepted, done, viewOf } from './node.js';

const step = fc.oneof(
  { weight: 6, arbitrary: fc.constant('post' as const) },
  { weight: 3, arbitrary: fc.constant('join' as const) },
  { weight: 2, arbitrary: fc.constant('invite' as const) },
  { weight: 1, arbitrary: fc.constant('burn' as const) },
);
type Step = typeof step extends fc.Arbitrary<infer Each> ? Each : never;

/** What a client knows; undefined after the end of the room. */
type View = RoomView | undefined;

/** Applies a frame to the view, as a client does. */
function applied(view: View, { type, payload }: { readonly type: string; readonly payload?: unknown }): View {
  if (!view || type === 'ROOM_BURNED') return undefined;
  if (type === 'NEW_MESSAGE') return { ...view, messages: [...view.messages, payload as RoomView['messages'][number]] };
  if (type === 'PARTICIPANT_JOINED')
    return { ...view, participants: [...view.participants, payload as RoomView['participants'][number]] };
  throw new Error(`a client knows no ${type}`);
}

/** A room on a node with a relay fed from the log, as in production. */
async function startRoom() {
  const clock = { now: NOON };
  const node = memoryNode(memoryWorld(), { now: () => clock.now });
  const { signal } = new AbortController();
  let relay = createRelay({ audience: rooms, head: node.head });
  let fed = 0n;
  const feed = async () => {
    for await (const { events, position } of node.follow({ prefixes: ['rooms.'], from: fed, signal })) {
      for (const each of events as readonly RecordedEvent<RoomsEvent>[])
        relay.publish(await node.decryptEvent(catalog, each));
      fed = position ?? fed;
      return;
    }
  };
  /** Restarts the relay at position `from`, restoring it from a snapshot of position `kept`. */
  const restart = async (from: bigint, snapshotAt: bigint) => {
    const { snapshots } = snapshotsInMemory();
    const decryptEvent = (event: RecordedEvent) => node.decryptEvent(catalog, event);
    const ports = { ...node, decryptEvent, snapshots, logger: silentLogger, signal };
    const seedAt = (at: bigint) => restoreFold('rooms', audienceFold(rooms), { horizon: at, from: at }, ports);
    await snapshots.write('rooms', 1, snapshotAt, rooms.snapshot!.parts((await seedAt(snapshotAt)).state));
    const [before, { state, window }] = [relay.state(), await seedAt(from)];
    relay.close();
    relay = createRelay({ audience: rooms, head: node.head, from: window.horizon, seed: state });
    fed = window.from;
    await feed();
    expect(relay.state()).to.deep.equal(before);
    return window.horizon;
  };
  const ada: JoinResult = done(await node.commands.create({ name: 'Ada', signingPublicKey }, HOUR, context())).body;
  const admit = () => node.authenticator.authenticate(ada.roomId, ada.sessionToken);
  const read = async () => {
    const caller = await admit();
    if (isRejection(caller)) return { view: undefined, position: fed };
    const found = accepted(await node.queries.state(caller));
    return { view: viewOf(found), position: found.position };
  };
  let count = 0;
  /** Runs a command, which may be rejected if the room is full or burned. */
  const take = async (what: Step) => {
    clock.now += 2000;
    const n = count++;
    if (what === 'burn') return node.commands.burn(ada.roomId, ada.participantId, context());
    const caller = await admit();
    if (isRejection(caller)) return;
    if (what === 'post') return node.commands.post(caller, { ...envelope, messageIndex: n }, context());
    const token = `an-invite-token-of-32-characters-${n}`;
    await node.commands.invite(caller, token, context());
    if (what === 'join')
      await node.commands.join(ada.roomId, token, { name: `guest ${n}`, signingPublicKey }, context());
  };
  const isOpen = async () => !isRejection(await admit());
  const connect = (client: Sink, after: bigint) => relay.connect({ keys: [ada.roomId], after }, client);
  return { connect, feed, restart, read, take, isOpen, close: () => relay.close() };
}

describe('the relay law for rooms', () => {
  it('holds for every command, and for clients that connect later to a node restarted anywhere in the log', async () => {
    const histories = fc.tuple(
      fc.array(step, { maxLength: 20 }),
      fc.array(step, { maxLength: 6 }),
      fc.array(step, { maxLength: 20 }),
    );
    const property = fc.asyncProperty(histories, fc.nat(10), fc.nat(10), async (history, from, snapshotAt) => {
      const [before, between, since] = history;
      const { connect, feed, restart, read, take, isOpen, close } = await startRoom();
      for (const each of before) await take(each);
      await feed();
      const { view, position } = await read();
      for (const each of between) await take(each);
      await feed();
      const { position: end } = await read();
      const horizon = await restart((end * BigInt(from)) / 10n, (end * BigInt(snapshotAt)) / 10n);
      const client = record();
      // A client that is not authenticated knows that the room has ended.
      const known = (await isOpen()) ? view : undefined;
      if (known) connect(client, position);
      for (const each of since) {
        await take(each);
        await feed();
      }
      if (known && position < horizon) expect(types(client)[0]).to.equal('RESET');
      else {
        const received = client.sent.reduce((seen, { message }) => applied(seen, message), known);
        expect(received).to.deep.equal((await read()).view);
      }
      close();
    });
    await fc.assert(property, { numRuns: 30 });
  });
});
