/** Signaling between participants on several nodes: only within a room, in order, bounded. */
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

describe('a signaling message', () => {
  const nodes = useMesh();

  /** A node with the rooms given to `knows`; it collects what is sent to its sockets. */
  async function node(run: string) {
    const { mesh } = await nodes.node(run);
    const rooms = new Map<string, RoomState>();
    const metrics = createRoomMetrics([], 0n);
    const received: string[] = [];
    const repeated: string[] = [];
    let room = Promise.resolve();
    const live: ClusterSignaling = createClusterSignaling({
      mesh,
      rooms: () => rooms,
      lastPosition: metrics.lastPosition,
      awaitPosition: metrics.awaitPosition,
      local: {
        send(id, { json, repeats }) {
          if (repeats !== undefined) repeated.push(repeats);
          received.push(`${id} gets ${json}`);
          return true;
        },
        async sendWithBackpressure(id, { json }) {
          await room;
          received.push(`${id} gets with backpressure ${json}`);
          return true;
        },
      },
    });
    return {
      run,
      mesh,
      live,
      received,
      repeated,
      /** Sets the events of a room up to a position of the log. */
      knows(position: bigint, events: readonly RoomEvent[], roomId = 'ABC234') {
        rooms.set(roomId, applyEvents(initialState, events));
        metrics.advance(position);
      },
      /** Blocks all sockets until the returned function is called. */
      full(): () => void {
        let release = () => {};
        room = new Promise((resolve) => {
          release = resolve;
        });
        return release;
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

  it('reaches a participant on the same or another node, in order', async () => {
    const { north, south } = await two();
    for (const each of ['1', '2', '3']) north.live.send(between('ann', 'bob', 'south'), { json: each });
    await north.live.sendWithBackpressure(between('ann', 'bob', 'south'), { json: '4' });
    expect(south.received).to.deep.equal(['bob gets 1', 'bob gets 2', 'bob gets 3', 'bob gets with backpressure 4']);
    await north.live.sendWithBackpressure(between('ann', 'abe', 'north'), { json: '5' });
    north.live.send(between('ann', 'abe', 'north'), { json: '6' });
    expect(north.received).to.deep.equal(['abe gets with backpressure 5', 'abe gets 6']);
  });

  it('carries on to the other node which state it repeats', async () => {
    const { north, south } = await two();
    north.live.send(between('ann', 'bob', 'south'), { json: '1', repeats: 'that bob is muted' });
    await north.live.sendWithBackpressure(between('ann', 'bob', 'south'), { json: '2' });
    expect(south.repeated).to.deep.equal(['that bob is muted']);
  });

  const head = { how: 'pass', roomId: 'ABC234', from: 'ann', to: 'bob' };

  it('is rejected without a valid position of the sending node', async () => {
    const { north, south } = await two();
    for (const position of ['', 'x', '-1', '1.5', '1'.repeat(21)])
      expect(await north.mesh.request('south', 'bob', { head: { ...head, position }, body: 'x' }), position).to.equal(
        false,
      );
    expect(south.received).to.deep.equal([]);
  });

  it('is dropped if too many messages wait for the receiving node to catch up', async () => {
    const { north, south } = await two([opened()]);
    const body = 'x'.repeat(1024 * 1024);
    for (const position of [17n, 19n]) {
      const request = { head: { ...head, position: String(position) }, body };
      const answers = Array.from({ length: 9 }, (_, n) => north.mesh.request('south', `${n}`, request));
      expect(await answers[8], 'immediately').to.equal(false);
      south.knows(position, together);
      const received = await Promise.all(answers);
      expect(received.filter((each) => each)).to.have.length(8);
    }
  });

  it('waits for the backpressure of the other node', async () => {
    const { north, south } = await two();
    const release = south.full();
    let passed = 0;
    const both = ['1', '2'].map((each) =>
      north.live.sendWithBackpressure(between('ann', 'bob', 'south'), { json: each }).then(() => void passed++),
    );
    north.live.send(between('ann', 'bob', 'south'), { json: 'first' });
    await eventually(() => south.received.length > 0);
    expect([south.received, passed]).to.deep.equal([['bob gets first'], 0]);
    release();
    await Promise.all(both);
    expect(south.received.slice(1)).to.deep.equal(['bob gets with backpressure 1', 'bob gets with backpressure 2']);
  });

  it('is dropped if either node does not know both participants in the room', async () => {
    const { north, south } = await two();
    const last = async () => {
      await north.live.sendWithBackpressure(between('ann', 'bob', 'south'), { json: 'last' });
      return south.received.splice(0);
    };
    await north.live.sendWithBackpressure(between('eve', 'bob', 'south'), { json: 'x' });
    await north.live.sendWithBackpressure(between('ann', 'bob', 'south', 'OTHER1'), { json: 'x' });
    expect(await last()).to.deep.equal(['bob gets with backpressure last']);
    // Ann is still in the room for `north`, and has left for `south`.
    south.knows(2n, [...together, left('ann')]);
    north.live.send(between('ann', 'bob', 'south'), { json: 'x' });
    await north.live.sendWithBackpressure(between('ann', 'bob', 'south'), { json: 'x' });
    expect(south.received).to.deep.equal([]);
    south.knows(3n, together);
    north.knows(3n, [...together, left('bob')]);
    await north.live.sendWithBackpressure(between('ann', 'bob', 'south'), { json: 'x' });
    expect(south.received).to.deep.equal([]);
  });

  it('is accepted only from the node of its sender', async () => {
    const { south } = await two();
    const east = await node('east');
    // `east` has wrong information about Ann, or lies.
    east.knows(1n, [opened(), ...at('east', joined('ann', true)), ...at('south', joined('bob'))]);
    await east.live.sendWithBackpressure(between('ann', 'bob', 'south'), { json: 'x' });
    expect(south.received).to.deep.equal([]);
  });

  it('waits until the receiving node knows a new participant, and keeps its order', async () => {
    const { north, south } = await two([opened()]);
    north.knows(7n, together);
    north.live.send(between('ann', 'bob', 'south'), { json: '1' });
    north.live.send(between('ann', 'bob', 'south'), { json: '2' });
    const passed = north.live.sendWithBackpressure(between('ann', 'bob', 'south'), { json: '3' });
    north.knows(9n, together);
    north.live.send(between('ann', 'bob', 'south'), { json: '4' });
    const probe = await nodes.node('probe');
    await probe.mesh.request('south', 'x', { head: {}, body: '' });
    expect(south.received).to.deep.equal([]);
    south.knows(7n, together);
    await passed;
    south.knows(9n, together);
    await eventually(() => south.received.length === 4);
    expect(south.received).to.deep.equal(['bob gets 1', 'bob gets 2', 'bob gets with backpressure 3', 'bob gets 4']);
  });

  it('is dropped if the recipient or its node is unknown', async () => {
    const { north, south } = await two([opened(), ...at('north', joined('ann', true))]);
    await north.live.sendWithBackpressure(between('ann', 'bob', 'south'), { json: 'x' });
    north.live.send(between('ann', 'bob', 'nowhere'), { json: 'x' });
    expect([north.received, south.received]).to.deep.equal([[], []]);
  });
});
