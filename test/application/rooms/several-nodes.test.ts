/** Rooms on two nodes: causal reads across nodes, and erasure in order. */
import { randomUUID } from 'node:crypto';
import { type Servers, startServers } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { asEvent } from '../../../application/command/event-envelope.js';
import { eraseReaction } from '../../../application/rooms/erase-room-reaction.js';
import { createRoomQueries } from '../../../application/rooms/queries.js';
import type { RoomsEvent } from '../../../domain/rooms/catalog.js';
import { roomStream } from '../../../domain/rooms/room.js';
import { envelope } from '../../support/room-fixtures.js';
import { context } from '../../support/toy-service.js';
import { accepted, done, type Node, startNode } from './node.js';

describe('rooms on two nodes', function () {
  this.timeout(120_000);
  let servers: Servers;
  let one: Node;
  let two: Node;
  const clock = Date;

  before(async () => {
    servers = await startServers();
  });
  after(() => servers?.stop());
  beforeEach(async () => {
    const database = `test_${randomUUID().slice(0, 8)}`;
    one = await startNode(servers, database, clock);
    two = await startNode(servers, database, clock);
  });
  afterEach(async () => {
    await one?.kernel.mongo.models.dropDatabase();
    await Promise.all([one?.stop(), two?.stop()]);
  });

  it('are at least as current as the position a caller has seen', async () => {
    const room = await one.create('Ada');
    const before = await two.admitted(room);
    const invited = done(await one.commands.invite(await one.admitted(room), `invite-${randomUUID()}`, context()));
    // The cached aggregate suffices until a caller requires a later position.
    expect((await two.admitted(room)).room).to.equal(before.room);
    const opened = accepted(await two.authenticator.open(room.roomId, invited.position));
    expect(opened.room.invites.map(({ id }) => id)).to.deep.equal([invited.body.inviteId]);
    done(await one.commands.invite(await one.admitted(room), `invite-${randomUUID()}`, context()));
    const { position } = done(await one.commands.invite(await one.admitted(room), `invite-${randomUUID()}`, context()));
    expect((await two.admitted(room, position)).room.invites).to.have.length(3);
  });

  it('reject messages under a corrupt key, and can still be burned', async () => {
    const [room, other] = [await one.create('Ada'), await one.create('Eve')];
    const { keys } = one.kernel.mongo;
    const rows = keys.collection<{ _id: string; wrapped: unknown }>('keys');
    const foreign = await rows.findOne({ _id: roomStream(other.roomId) });
    await rows.updateOne({ _id: roomStream(room.roomId) }, { $set: { wrapped: foreign?.wrapped } });
    const caller = await two.admitted(room);
    expect(await two.commands.post(caller, envelope, context())).to.include({
      rejected: 'rooms/room-not-found',
      kind: 'not-found',
    });
    expect(two.kernel.undecryptableCount()).to.be.at.least(1);
    done(await two.commands.post(await two.admitted(other), envelope, context()));
    done(await two.commands.burn(room.roomId, caller.participant.id, context()));
  });

  it('are read at the position a caller has seen, or reported as pending', async () => {
    const { kernel } = one;
    const room = await one.create('Ada');
    const caller = await one.admitted(room);
    // Acknowledged by this node, and perhaps not projected yet.
    const acknowledged = 500n;
    const latest = (streams: readonly string[]) => (streams.includes(roomStream(room.roomId)) ? acknowledged : 0n);
    const waited: bigint[] = [];
    const reading = (isCaughtUp: boolean) => {
      const wait = async (_: string, position: bigint) => {
        waited.push(position);
        return isCaughtUp;
      };
      const { cache } = one;
      return createRoomQueries({
        ...kernel,
        cache,
        livePosition: () => 0n,
        clock,
        projectionProgress: { ...kernel.projectionProgress, latest, wait },
      });
    };
    const seen = acknowledged + 1_000_000n;
    expect(accepted(await reading(true).state(caller, undefined, seen))).not.to.have.property('consistency');
    expect(accepted(await reading(false).state(caller, undefined, seen))).to.include({
      consistency: 'pending',
    });
    await reading(true).state(caller, undefined, 1n);
    expect(waited).to.deep.equal([seen, seen, acknowledged]);
  });

  it('are erased in order: no RoomErased before the messages are deleted', async () => {
    const { kernel } = one;
    const room = await one.create('Ada');
    done(await one.commands.post(await one.admitted(room), envelope, context()));
    let tombstones = 0;
    const log = {
      ...kernel.log,
      async tombstone() {
        tombstones++;
        throw new Error('the event store is away');
      },
    };
    const erase = eraseReaction({ ...kernel, clock, log }).on.RoomBurned;
    const events = await kernel.log.read(roomStream(room.roomId));
    if (typeof events === 'string') throw new Error(events);
    // An end that no reaction of the nodes has seen, so that they do not interfere.
    const end = asEvent<RoomsEvent<'RoomBurned'>>({ ...events[0]!, type: 'RoomBurned' });
    expect(await erase(end).catch((error: Error) => error.message)).to.equal('the event store is away');
    expect(tombstones).to.equal(1);
    const after = await kernel.log.read(roomStream(room.roomId));
    expect(after).to.have.length(events.length);
  });
});
