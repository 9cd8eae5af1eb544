/** Formats of ingest requests. */
import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { ISO, type LogsUnderTest, messages, type Receipt, type SuiteContext } from './shared-service.js';

/** The initial output of a tail. */
async function rawTail(url: string, connected: () => void): Promise<string> {
  const answer = await fetch(url);
  connected();
  let responseText = '';
  for await (const chunk of answer.body!) {
    responseText += Buffer.from(chunk).toString();
    if (/data: .*\n\n/.test(responseText)) break;
  }
  return responseText;
}

export function takesIn(logs: LogsUnderTest) {
  const { count, mine, post } = logs;
  let base: SuiteContext['base'];
  let client: SuiteContext['client'];
  let run: SuiteContext['run'];
  beforeEach(() => {
    ({ base, client, run } = logs.context());
  });

  describe('ingest of', () => {
    it('NDJSON reports lines that are not records', async () => {
      const { status, body } = await post(`{"run":"${run}","message":"a"}\nnonsense\n[1]\n{"run":"${run}"}\n`);
      expect(status).to.equal(200);
      expect(body).to.deep.include({ accepted: 2, rejected: 2, queued: false, producerId: 'default' });
      expect(body.receivedAt).to.match(ISO);
      expect(body.errors.map(({ line }) => line)).to.deep.equal([2, 3]);
      expect(body.errors.every(({ error }) => typeof error === 'string')).to.equal(true);
    });

    it('arrays, {logs}, single objects and gzip works with any content type', async () => {
      const record = (n: number) => ({ run, message: `m${n}` });
      expect((await post(JSON.stringify([record(1), record(2)]), 'application/json')).body.accepted).to.equal(2);
      expect((await post(JSON.stringify({ logs: [record(3)] }), 'application/json')).body.accepted).to.equal(1);
      expect((await post(JSON.stringify(record(4)), 'application/json')).body.accepted).to.equal(1);
      expect((await post(JSON.stringify(record(5)), 'text/plain')).body.accepted).to.equal(1);
      expect((await post(JSON.stringify(record(6)), 'application/ndjson')).body.accepted).to.equal(1);
      const packed = gzipSync(JSON.stringify(record(7)));
      const gzip = { 'content-encoding': 'gzip' };
      expect((await post(packed, 'application/x-ndjson', gzip)).body.accepted).to.equal(1);
      expect(messages(await client.all(mine('order=asc')))).to.have.members([1, 2, 3, 4, 5, 6, 7].map((n) => `m${n}`));
    });

    it('an empty body is accepted', async () => {
      expect((await post('')).body).to.deep.include({ accepted: 0, rejected: 0, errors: [] });
      expect((await post('no\nthing\n')).body).to.deep.include({ accepted: 0, rejected: 2 });
    });

    it('invalid JSON and bodies above 8 MiB is refused', async () => {
      const { status, body } = await post('{"broken', 'application/json');
      expect([status, typeof body.error]).to.deep.equal([400, 'string']);
      for (const valid of ['5', 'null', '"a text"']) {
        const refused = await post(valid, 'application/json');
        expect([refused.status, refused.body.error]).to.deep.equal([
          400,
          'The body must be a JSON object or an array of objects',
        ]);
      }
      expect((await post(`{"a":"${'x'.repeat(8 * 1024 * 1024)}"}`)).status).to.equal(413);
      const bomb = gzipSync(Buffer.alloc(9 * 1024 * 1024, 'x'));
      expect((await post(bomb, 'text/plain', { 'content-encoding': 'gzip' })).status).to.equal(413);
    });

    it('records of up to 64 KiB each, thousands at once, works', async () => {
      const records = Array.from({ length: 3000 }, (_, n) => ({ run, n, message: 'x'.repeat(400) }));
      const large = { run, message: 'y'.repeat(65 * 1024) };
      const { body } = await client.ask<Receipt>('POST', '/api/ingest', {
        body: [...records, large].map((each) => JSON.stringify(each)).join('\n'),
      });
      expect(body).to.deep.include({ accepted: 3000, rejected: 1 });
      expect(body.errors[0]?.line).to.equal(3001);
      const found = await client.all(mine('order=asc'));
      expect(found.map(({ data }) => data.n)).to.deep.equal(records.map(({ n }) => n));
    });

    it("numbers beyond a double's range returns them unchanged", async () => {
      const text = `{"run":"${run}","id":9007199254740993,"n":[-12345678901234567890,1.5]}`;
      let first: Promise<string> | undefined;
      await new Promise<void>((connected) => {
        first = rawTail(`${base}/api/logs/tail?${mine()}`, connected);
      });
      expect((await post(text)).body.accepted).to.equal(1);
      for (const query of ['', 'field=id&value=9007199254740993', 'field=n&value=-12345678901234567890']) {
        const answer = await fetch(`${base}/api/logs?${mine(query)}`);
        expect(await answer.text(), query).to.include(`"data":${text}`);
      }
      expect((await client.page(mine('field=id&value=9007199254740992'))).entries).to.deep.equal([]);
      expect((await count('groupBy=field&groupField=id')).buckets).to.deep.equal([
        { key: '9007199254740993', count: 1 },
      ]);
      expect(await first).to.include(`"data":${text}`);
    });

    it('a single line with a member `logs` stores it as a record and ignores its producer field', async () => {
      const record = { run, logs: [{ a: 1 }], producerId: 'forged', deep: { producerId: 'kept' } };
      expect((await post(JSON.stringify(record))).body.accepted).to.equal(1);
      const { entries } = await client.page(mine());
      expect(entries.map(({ data }) => data)).to.deep.equal([{ ...record, producerId: 'default' }]);
    });

    it('one keyed request twice gives byte-equal answers, also when nothing was accepted', async () => {
      for (const body of [`{"run":"${run}"}\nbad`, 'bad\n']) {
        const key = { 'idempotency-key': randomUUID(), 'content-type': 'text/plain' };
        const send = async () => (await fetch(`${base}/api/ingest`, { method: 'POST', body, headers: key })).text();
        const first = await send();
        expect(await send()).to.equal(first);
        expect((await post('{"other":1}', 'text/plain', key)).status).to.equal(422);
      }
      expect((await count('groupBy=level')).total).to.equal(1);
    });

    it('one keyed request twice stores it once', async () => {
      const key = { 'idempotency-key': run };
      const body = `{"run":"${run}","message":"once"}\n{"run":"${run}","audit":true}\nbad`;
      const first = await post(body, 'text/plain', key);
      const [second, third] = await Promise.all([post(body, 'text/plain', key), post(body, 'text/plain', key)]);
      expect(second.body).to.deep.equal(first.body);
      expect(third.body).to.deep.equal(first.body);
      expect((await count('groupBy=level')).total).to.equal(2);
      expect((await post(`{"run":"${run}"}`, 'text/plain', key)).status).to.equal(422);
    });
  });
}
