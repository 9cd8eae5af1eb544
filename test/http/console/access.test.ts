/** The console on the operations port of a node: who gets which part of it, and what it says of the node. */
import { expect } from 'chai';
import { rooms } from '../../../bin/services/rooms.js';
import { httpSpec, send } from '../../support/http-spec.js';
import { type RunningNode, startNode } from '../../support/node.js';

const TOKEN = 'token-of-the-operations';
const ELSEWHERE = { forwarded: 'for=203.0.113.9' };
const DATA = ['/node', '/leases', '/activity', '/reindex', '/events', '/events/1', '/events/1/related'];
const COMMANDS = ['/projections/rooms.state/rebuild', '/projections/rooms.state/check'];

describe('console of the operations port', () => {
  let node: RunningNode;
  const http = httpSpec(() => node.url('operations'));
  before(async () => {
    node = await startNode([rooms], { flags: { '--rooms-port': '0', '--operations-token': TOKEN } });
  });
  after(() => node?.stop());

  const statusOf = (method: string, path: string, headers: { [name: string]: string }) =>
    send(node.url('operations'), { method, path, headers }).then(({ status }) => status);

  it('gives its data to this machine, and to the token from elsewhere', async () => {
    for (const [method, paths] of [
      ['GET', DATA],
      ['POST', COMMANDS],
    ] as const)
      for (const path of paths) {
        expect(await statusOf(method, path, ELSEWHERE), path).to.equal(401);
        expect(await statusOf(method, path, { ...ELSEWHERE, authorization: 'Bearer nonsense' }), path).to.equal(401);
        const allowed = await statusOf(method, path, { ...ELSEWHERE, authorization: `Bearer ${TOKEN}` });
        expect(allowed, path).to.be.oneOf([200, 202, 404, 409]);
        expect(await statusOf(method, path, { host: 'evil.example' }), path).to.equal(403);
      }
  });

  it('gives its page, which has no data, to everybody', async () => {
    const page = await fetch(node.url('operations'), { headers: ELSEWHERE });
    expect(page.status).to.equal(200);
    expect(page.headers.get('content-security-policy')).to.include("default-src 'none'");
    const [script] = /assets\/page-\w+\.js/.exec(await page.text()) ?? [];
    expect(await statusOf('GET', `/${script}`, ELSEWHERE)).to.equal(200);
  });

  it('takes no commands from pages of other origins', async () => {
    const [path = ''] = COMMANDS;
    const { host } = new URL(node.url('operations'));
    for (const origin of ['https://evil.example', 'http://localhost:1', 'null'])
      expect(await statusOf('POST', path, { host, origin }), origin).to.equal(403);
    expect(await statusOf('POST', path, { host, origin: `http://${host}` })).to.be.oneOf([202, 409]);
  });

  it('describes the node, its leases and its activity', async () => {
    const described = await http.given('GET', '/node');
    expect(described.services).to.deep.equal([{ name: 'rooms', url: node.url('rooms') }]);
    expect(described.nodes).to.deep.equal([described.node]);
    expect(described.eventTypes.rooms).to.include.members(['RoomCreated', 'ProjectionSwitched']);
    const { leases } = await http.given('GET', '/leases');
    expect(leases).to.deep.include({ name: 'projector:rooms', owner: described.node });
    const { sliceMs, slices } = await http.given('GET', '/activity');
    expect(sliceMs).to.equal(10_000);
    expect(slices).to.be.an('array');
  });
});
