/** Addresses of nodes: configured, and as announced to other nodes. */
import { silentLogger } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { openCluster } from '../../../adapters/cluster/cluster.js';
import { rulesOf, settings } from '../../../bin/settings.js';
import { KEY } from '../../support/cluster-nodes.js';

async function addressOf(host: string, wanted?: string): Promise<string> {
  const mesh = await openCluster({
    run: 'ann',
    key: KEY,
    host,
    port: 0,
    address: wanted,
    join: async () => ({
      address: () => undefined,
      liveNodes: () => new Set<string>(),
      beats: () => undefined,
      unreachedBy: () => [],
      look: async () => {},
      leave: async () => {},
    }),
    logger: silentLogger,
  });
  await mesh.close();
  return mesh.address;
}

describe('the address of a node', () => {
  it('is where it listens, unless another host or port is configured for others', async () => {
    expect(await addressOf('127.0.0.1')).to.match(/^127\.0\.0\.1:\d+$/);
    expect(await addressOf('127.0.0.1', 'node.example')).to.match(/^node\.example:\d+$/);
    expect(await addressOf('127.0.0.1', 'node.example:7000')).to.equal('node.example:7000');
    expect(await addressOf('127.0.0.1', '[2001:db8::1]')).to.match(/^\[2001:db8::1\]:\d+$/);
    expect(await addressOf('127.0.0.1', '[2001:db8::1]:7000')).to.equal('[2001:db8::1]:7000');
  });

  it('must be configured when it listens on all interfaces', () => {
    const defaults = Object.entries(settings).map(([key, setting]) => [
      key,
      'default' in setting ? setting.default : undefined,
    ]);
    const wrong = (given: object) => {
      const values = { ...Object.fromEntries(defaults), ...given };
      return rulesOf([]).flatMap((rule) => rule(values) ?? []);
    };
    expect(wrong({ 'mesh.host': '0.0.0.0' }).map(({ key }) => key)).to.deep.equal(['mesh.address']);
    expect(wrong({ 'mesh.host': '::' }).map(({ key }) => key)).to.deep.equal(['mesh.address']);
    expect(wrong({ 'mesh.host': '0.0.0.0', 'mesh.address': 'node.example' })).to.deep.equal([]);
    expect(wrong({ 'mesh.host': '192.0.2.1' })).to.deep.equal([]);
  });

  it('is a host with an optional port and nothing else', () => {
    const form = new RegExp(settings['mesh.address'].pattern);
    for (const fine of ['node', 'node.example:7000', '192.0.2.1', '[2001:db8::1]', '[::1]:7000'])
      expect(form.test(fine), fine).to.equal(true);
    for (const wrong of ['', '::1', 'http://node', 'node:', 'node:port', 'a b', 'node/path', '[::1'])
      expect(form.test(wrong), wrong).to.equal(false);
  });
});
