/** Rows of an older index version are not read: the index is rebuilt before a node serves it. */
import { randomUUID } from 'node:crypto';
import { type Servers, startServers } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { EVERYTHING } from '../../../../domain/logs/filter.js';
import { records } from '../../../../projections/logs/index/records.js';
import { foundIn, startLogsNode } from '../../../support/log-node.js';

describe('a log index of an older version', () => {
  let servers: Servers;

  before(async () => {
    servers = await startServers();
  });
  after(() => servers?.stop());

  it('is rebuilt at the start, with all records and their ids', async () => {
    const database = `test_${randomUUID().slice(0, 8)}`;
    const before = await startLogsNode(servers, database, { ...records, version: records.version - 1 });
    let old: unknown;
    try {
      const sent = Array.from({ length: 30 }, (_, n) => ({ n, message: `record ${n}` }));
      await before.ingest.post(JSON.stringify(sent), 'json', 'api', before.kernel.systemContext('test'));
      old = await foundIn(before.index, EVERYTHING, 'asc');
      expect(old).to.have.length(30);
    } finally {
      await before.stop();
    }
    const after = await startLogsNode(servers, database);
    try {
      expect(after.kernel.served.collection(records.name)).to.match(new RegExp(`^logs_records_v${records.version}_`));
      expect(await foundIn(after.index, EVERYTHING, 'asc')).to.deep.equal(old);
    } finally {
      await after.stop();
    }
  });
});
