/** The alert history: newest first, in pages, with the outcome of each alert. */
import { expect } from 'chai';
import { createAlertHistory } from '../../../../application/logs/alerts/history.js';
import type { Rows } from '../../../../application/ports/index.js';
import { taken } from '../../../support/memory-ingest.js';

describe('the alert history', () => {
  const row = (id: string, raisedAt: number, more = {}) => ({
    _id: id,
    _at: { toBigInt: () => BigInt(raisedAt) },
    rule: 'no_logs',
    severity: 'warning',
    state: 'active',
    raisedAt,
    details: { thresholdMinutes: 5 },
    ...more,
  });
  type Compared = { $lt: number | string } | number;
  type Older = { $or: [{ raisedAt: Compared }, { raisedAt: number; _id: { $lt: string } }] };

  function history(all: readonly ReturnType<typeof row>[], isCaughtUp = true) {
    const waited: bigint[] = [];
    const rows: Rows = {
      async find<Row>(_: string, { filter, sort, limit }: Parameters<Rows['find']>[1]) {
        expect(sort).to.deep.equal({ raisedAt: -1, _id: -1 });
        const older = (filter as Partial<Older>).$or;
        const passes = ({ raisedAt, _id }: ReturnType<typeof row>) =>
          !older ||
          raisedAt < Number((older[0].raisedAt as { $lt: number }).$lt) ||
          (raisedAt === older[1].raisedAt && _id < older[1]._id.$lt);
        const sorted = all.toSorted((a, b) => b.raisedAt - a.raisedAt || (a._id < b._id ? 1 : -1));
        return sorted.filter(passes).slice(0, limit) as Row[];
      },
    };
    const projectionProgress = {
      position: () => 0n,
      latest: () => 70n,
      latestOf: () => 70n,
      async wait(_: string, position: bigint) {
        waited.push(position);
        return isCaughtUp;
      },
    };
    return { read: createAlertHistory({ rows, projectionProgress }), waited };
  }

  it('lists alerts newest first, in pages without gaps or duplicates', async () => {
    const all = [row('a', 10), row('b', 30), row('c', 30), row('d', 20), row('e', 40)];
    const { read } = history(all);
    for (const limit of [1, 2, 3]) {
      const ids: string[] = [];
      let cursor: string | undefined;
      do {
        const page = taken(await read({ limit, ...(cursor ? { cursor } : {}) }));
        ids.push(...page.body.alerts.map((each) => (each as { id: string }).id));
        expect(page.body.limit).to.equal(limit);
        expect(page.body.hasMore).to.equal(ids.length < all.length);
        cursor = page.body.nextCursor;
      } while (cursor !== undefined);
      expect(ids).to.deep.equal(['e', 'c', 'b', 'd', 'a']);
    }
    expect(taken(await read({ limit: 5 })).body)
      .to.include({ hasMore: false })
      .and.not.have.property('nextCursor');
    expect(taken(await read({ limit: 5 })).position).to.equal(40n);
  });

  it('describes each alert with its resolution and delivery', async () => {
    const delivery = { at: 5000, attempts: 2, status: 500, reason: 'it answered 500' };
    const resolved = { state: 'resolved', resolvedAt: 4000, resolution: 'recovered', delivery };
    const { read } = history([
      row('a', 3000, resolved),
      row('b', 2000, { delivery: { at: 2500, attempts: 1, status: 200 }, repeatedBy: 'a' }),
      row('c', 1000),
    ]);
    const common = { rule: 'no_logs', severity: 'warning', details: { thresholdMinutes: 5 } };
    const iso = (at: number) => new Date(at).toISOString();
    expect(taken(await read({ limit: 10 })).body.alerts).to.deep.equal([
      {
        ...common,
        id: 'a',
        state: 'resolved',
        triggeredAt: iso(3000),
        resolvedAt: iso(4000),
        resolution: 'recovered',
        webhook: { delivered: false, at: iso(5000), attempts: 2, status: 500, reason: 'it answered 500' },
      },
      {
        ...common,
        id: 'b',
        state: 'active',
        triggeredAt: iso(2000),
        resolvedAt: null,
        repeatedBy: 'a',
        webhook: { delivered: true, at: iso(2500), attempts: 1, status: 200 },
      },
      {
        ...common,
        id: 'c',
        state: 'active',
        triggeredAt: iso(1000),
        resolvedAt: null,
        webhook: { delivered: false, attempts: 0 },
      },
    ]);
  });

  it('waits for writes of this node and of the caller, and reports "pending" when behind', async () => {
    const { read, waited } = history([], false);
    expect(taken(await read({ limit: 1 })).consistency).to.equal('pending');
    await read({ limit: 1, seen: 90n });
    expect(waited).to.deep.equal([70n, 90n]);
    expect(taken(await history([]).read({ limit: 1 }))).not.to.have.property('consistency');
  });

  it('rejects malformed cursors', async () => {
    const { read } = history([]);
    for (const cursor of ['', 'x', '12', '12.', '.a', 'x12.a', '12.a b', `12.${'a'.repeat(65)}`, '12345678901234567.a'])
      expect(await read({ limit: 1, cursor }), cursor).to.include({
        rejected: 'logs/bad-cursor',
        kind: 'invalid',
      });
  });
});
