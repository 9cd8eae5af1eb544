/** What people of a meeting tell each other at several nodes: to who is in the same room, and is there. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import type { ClusterSignaling } from '../../../application/meeting/cluster-signaling.js';
import { createClusterSignaling } from '../../../application/meeting/cluster-signaling.js';
import { createRoomMetrics } from '../../../application/meeting/room-metrics.js';
import type { RoomEvent } from '../../../domain/meeting/catalog.js';
import { applyEvents, initialState, type RoomState } from '../../../domain/meeting/state.js';
import { useMesh } from '../../support/cluster-nodes.js';
import { joined, left, opened } from '../../support/meeting-fixtures.js';

const at = (node: string, ...events: readonly RoomEvent[]) =>
  events.map((event) => ({ ...event, data: { ...event.data, node } }) as RoomEvent);

/** Ann and Abe at `north`, Bob at `south`. */
const together = [
  opened(),
  ...at('north', joined('ann', true)),
  ...at('south', joined('bob')),
  ...at('north', joined('abe')),
];

describe('a live message', () => {
  const nodes = useMesh();

  /** A node that knows of rooms what it is told, and keeps what comes to its sockets. */
  async function node(run: string) {
    const { mesh } = await nodes.node(run);
    const rooms = new Map<string, RoomState>();
    const census = createRoomMetrics([], 0n);
    const came: string[] = [];
    const repeated: string[] = [];
    let room = Promise.resolve();
    const live: ClusterSignaling = createClusterSignaling({
      mesh,
      room: (roomId) => rooms.get(roomId),
      lastPosition: census.lastPosition,
      awaitPosition: census.awaitPosition,
      local: {
        send(id, { json, repeats }) {
          if (repeats !== undefined) repeated.push(repeats);
          came.push(`${id} is told ${json}`);
          return true;
        },
        async sendWithBackpressure(id, { json }) {
          await room;
          came.push(`${id} is passed ${json}`);
          return true;
        },
      },
    });
    return {
      run,
      mesh,
      live,
      came,
      repeated,
      /** What the log says of a room, up to a position. */
      knows(position: bigint, events: readonly RoomEvent[], roomId = 'ABC234') {
        rooms.set(roomId, applyEvents(initialState, events));
        census.advance(position);
      },
      /** Nobody has room for more until it is let go. */
      full(): () => void {
        let letGo = () => {};
        room = new Promise((resolve) => {
          letGo = resolve;
        });
        return letGo;
      },
    };
  }

  const between = (from: string, to: string, node: string, roomId = 'ABC234') => ({
    roomId,
    from: { id: from },
    to: { id: to, node },
  });

  async function two(events: readonly RoomEvent[] = together) {
    const [north, south] = [await node('north'), await node('south')];
    north.knows(1n, events);
    south.knows(1n, events);
    return { north, south };
  }

  it('comes to who is at another node and at this one, in order', async () => {
    const { north, south } = await two();
    for (const each of ['1', '2', '3']) north.live.send(between('ann', 'bob', 'south'), { json: each });
    await north.live.sendWithBackpressure(between('ann', 'bob', 'south'), { json: '4' });
    expect(south.came).to.deep.equal(['bob is told 1', 'bob is told 2', 'bob is told 3', 'bob is passed 4']);
    await north.live.sendWithBackpressure(between('ann', 'abe', 'north'), { json: '5' });
    north.live.send(between('ann', 'abe', 'north'), { json: '6' });
    expect(north.came).to.deep.equal(['abe is passed 5', 'abe is told 6']);
  });

  it('says at the other node, too, what of the log it repeats', async () => {
    const { north, south } = await two();
    north.live.send(between('ann', 'bob', 'south'), { json: '1', repeats: 'that bob is muted' });
    await north.live.sendWithBackpressure(between('ann', 'bob', 'south'), { json: '2' });
    expect(south.repeated).to.deep.equal(['that bob is muted']);
  });

  const head = { how: 'pass', roomId: 'ABC234', from: 'ann', to: 'bob' };

  it('comes from no node that says it is nowhere in the log', async () => {
    const { north, south } = await two();
    for (const heard of ['', 'x', '-1', '1.5', '1'.repeat(21)])
      expect(await north.mesh.request('south', 'bob', { head: { ...head, heard }, body: 'x' }), heard).to.equal(false);
    expect(south.came).to.deep.equal([]);
  });

  it('is lost where too much waits already for its node to hear of the log, and nothing else is', async () => {
    const { north, south } = await two([opened()]);
    const body = 'x'.repeat(1024 * 1024);
    for (const heard of [17n, 19n]) {
      const said = { head: { ...head, heard: String(heard) }, body };
      const asked = Array.from({ length: 9 }, (_, n) => north.mesh.request('south', `${n}`, said));
      expect(await asked[8], 'at once').to.equal(false);
      south.knows(heard, together);
      const came = await Promise.all(asked);
      expect(came.filter((each) => each)).to.have.length(8);
    }
  });

  it('holds up who passes it until there is room at the other node', async () => {
    const { north, south } = await two();
    const letGo = south.full();
    let passed = 0;
    const both = ['1', '2'].map((each) =>
      north.live.sendWithBackpressure(between('ann', 'bob', 'south'), { json: each }).then(() => void passed++),
    );
    north.live.send(between('ann', 'bob', 'south'), { json: 'told' });
    await eventually(() => south.came.length > 0);
    expect([south.came, passed]).to.deep.equal([['bob is told told'], 0]);
    letGo();
    await Promise.all(both);
    expect(south.came.slice(1)).to.deep.equal(['bob is passed 1', 'bob is passed 2']);
  });

  it('comes from nobody and to nobody who is not in the room, as either node knows it', async () => {
    const { north, south } = await two();
    const last = async () => {
      await north.live.sendWithBackpressure(between('ann', 'bob', 'south'), { json: 'last' });
      return south.came.splice(0);
    };
    await north.live.sendWithBackpressure(between('eve', 'bob', 'south'), { json: 'x' });
    await north.live.sendWithBackpressure(between('ann', 'bob', 'south', 'OTHER1'), { json: 'x' });
    expect(await last()).to.deep.equal(['bob is passed last']);
    // Here she is still in it, there she has left.
    south.knows(2n, [...together, left('ann')]);
    north.live.send(between('ann', 'bob', 'south'), { json: 'x' });
    await north.live.sendWithBackpressure(between('ann', 'bob', 'south'), { json: 'x' });
    expect(south.came).to.deep.equal([]);
    south.knows(3n, together);
    north.knows(3n, [...together, left('bob')]);
    await north.live.sendWithBackpressure(between('ann', 'bob', 'south'), { json: 'x' });
    expect(south.came).to.deep.equal([]);
  });

  it('comes from no node but the one at which its sender is', async () => {
    const { south } = await two();
    const east = await node('east');
    // It thinks that she is here: she has come over from there a moment ago, or it lies.
    east.knows(1n, [opened(), ...at('east', joined('ann', true)), ...at('south', joined('bob'))]);
    await east.live.sendWithBackpressure(between('ann', 'bob', 'south'), { json: 'x' });
    expect(south.came).to.deep.equal([]);
  });

  it('waits for a node to hear of who has just come, and keeps its order', async () => {
    const { north, south } = await two([opened()]);
    north.knows(7n, together);
    north.live.send(between('ann', 'bob', 'south'), { json: '1' });
    north.live.send(between('ann', 'bob', 'south'), { json: '2' });
    const passed = north.live.sendWithBackpressure(between('ann', 'bob', 'south'), { json: '3' });
    north.knows(9n, together);
    north.live.send(between('ann', 'bob', 'south'), { json: '4' });
    const probe = await nodes.node('probe');
    await probe.mesh.request('south', 'x', { head: {}, body: '' });
    expect(south.came).to.deep.equal([]);
    south.knows(7n, together);
    await passed;
    south.knows(9n, together);
    await eventually(() => south.came.length === 4);
    expect(south.came).to.deep.equal(['bob is told 1', 'bob is told 2', 'bob is passed 3', 'bob is told 4']);
  });

  it('is no more than lost where the room has ended, or another is in its place', async () => {
    const { north, south } = await two([opened(), ...at('north', joined('ann', true))]);
    await north.live.sendWithBackpressure(between('ann', 'bob', 'south'), { json: 'x' });
    north.live.send(between('ann', 'bob', 'nowhere'), { json: 'x' });
    expect([north.came, south.came]).to.deep.equal([[], []]);
  });
});
