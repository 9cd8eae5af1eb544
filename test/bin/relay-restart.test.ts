/** A restarted node knows earlier participants, although the feed of its start does not mention them. */
import { randomUUID } from 'node:crypto';
import { eventually } from '@annals/engines/testing/condition.js';
import { type Servers, startServers } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { EventSource } from 'eventsource';
import { sameOrigin } from '../../adapters/http/server/policy.js';
import { route } from '../../adapters/http/server/route.js';
import { connectMongo } from '../../adapters/mongo/client.js';
import { createWindows } from '../../adapters/mongo/coordination/checkpoints.js';
import { createSnapshots } from '../../adapters/mongo/coordination/snapshots.js';
import { relayMembers, type Service } from '../../bin/node/service.js';
import { type Decider, event } from '../../domain/shared/decider.js';
import { object } from '../../domain/shared/schema.js';
import { type RunningNode, startNode } from '../support/node.js';
import { connectAs, entered, left, type WardEvent, wardAudience, wrote } from '../support/toy-service.js';

const text = { type: 'string' } as const;
const catalog = {
  service: 'wards',
  events: {
    Entered: event(object({ ward: text, person: text })),
    Left: event(object({ ward: text, person: text })),
    Wrote: event(object({ ward: text, text })),
    Closed: event(object({ ward: text })),
  },
} as const;

/** A fake whose commands always succeed. */
const ward: Decider<null, readonly WardEvent[], WardEvent> = {
  initialState: null,
  decide: (events) => events,
  evolve: { Entered: () => null, Left: () => null, Wrote: () => null, Closed: () => null },
};

const wards: Service<typeof catalog> = {
  name: 'wards',
  catalog,
  projections: [],
  port: () => 0,
  async connect({ kernel, ...context }) {
    const relay = await context.relay(wardAudience);
    const happen = route({
      method: 'POST',
      path: '/events',
      summary: 'What happens in the ward',
      body: { type: 'object', required: ['events'], properties: { events: { type: 'array' } } },
      answers: { 201: { description: 'Done' } },
      async handle({ body: { events }, context }) {
        const command = events as WardEvent[];
        await kernel.handle({ catalog, decider: ward }, 'wards.ward-w', command, context('nurse', 'here'));
        return { status: 201, body: {} };
      },
    });
    const stream = route({
      method: 'GET',
      path: '/people/:person',
      summary: 'What somebody hears',
      answers: { 200: { description: 'The stream', type: 'text/event-stream' } },
      handle: ({ params: { person } }) => ({ stream: (sink) => relay.connect(connectAs(person), sink) }),
    });
    const policy = { service: 'wards', title: 'Wards', version: '1', cors: sameOrigin };
    const routes = [happen, stream];
    return { policy, signIn: '', routes, ...relayMembers(relay), reactions: [], periodic: [] };
  },
};

describe('a restarted node', () => {
  const database = `test_${randomUUID().slice(0, 8)}`;
  let servers: Servers;
  let node: RunningNode;
  const start = () => startNode([wards], { servers, flags: { '--mongo-database': database } });
  before(async () => {
    servers = await startServers();
    node = await start();
  });
  after(async () => {
    await node?.stop();
    await servers?.stop();
  });

  const happen = async (...events: readonly WardEvent[]) => {
    const headers = { 'Content-Type': 'application/json' };
    const body = JSON.stringify({ events });
    const { status } = await fetch(`${node.url('wards')}/events`, { method: 'POST', headers, body });
    expect(status).to.equal(201);
  };

  it('sends earlier participants the repeated state at start, and that they have left', async () => {
    const { models, close } = await connectMongo(servers.mongoUrl, database);
    const snapshot = () => createSnapshots(models).read('wards', 1);
    expect((await eventually(snapshot)).parts, 'of an audience that nobody has joined').to.deep.equal([]);
    await happen(entered('ann'), entered('bob'));
    for (let n = 0; n < 6; n++) await happen(...Array.from({ length: 100 }, () => wrote('hm')));
    const begins = async () => (await createWindows(models).read('wards'))?.from;
    await eventually(async () => ((await begins()) ?? 0n) > 0n);
    await close();
    await node.stop();
    node = await start();

    const stream = new EventSource(`${node.url('wards')}/people/ann`);
    const received: string[] = [];
    stream.addEventListener('message', ({ data }) => received.push(JSON.parse(data).type));
    await new Promise((opened) => stream.addEventListener('open', opened));
    await happen(wrote('hello'));
    await happen(left('bob'));
    await happen(left('ann'));
    await happen(wrote('to nobody'));
    await happen(entered('ann'));
    await eventually(() => received.includes('Ward'));
    expect(received).to.deep.equal(['Wrote', 'Left', 'Left', 'Ward', 'Entered'].slice(0, received.length));
    stream.close();
  });
});
