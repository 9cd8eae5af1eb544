/** Damaged records of the embedded event store: reported by position, without losing anything else. */
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '@annals/engines/testing/engines.js';
import { embeddedEventStore } from '@annals/engines/testing/eventstore.js';
import { collect, rejection, take } from '@annals/engines/testing/eventstore-client.js';
import { EventStoreDBClient, jsonEvent, streamNameFilter } from '@eventstore/db-client';
import { expect } from 'chai';
import { createEventLog } from '../../../adapters/eventstore/event-log.js';
import { CorruptEventError } from '../../../application/ports/index.js';

const MARK = 'a text that stands in one event only';

describe('a damaged event', () => {
  let server: Awaited<ReturnType<typeof embeddedEventStore>>;
  let client: EventStoreDBClient;
  let position: bigint;

  const event = (text: string) => jsonEvent({ type: 'Noted', data: { text } });

  before(async () => {
    server = await embeddedEventStore(await mkdtemp(join(tmpdir(), 'annals-damaged-')));
    client = EventStoreDBClient.connectionString(server.url);
    await client.appendToStream('toys.other', event('before'));
    const appended = await client.appendToStream('toys.hurt', event(MARK));
    position = appended.position!.commit;
    await client.appendToStream('toys.other', event('after'));
    await server.embedded.restart('SIGTERM', () => {
      const file = join(server.embedded.directory, 'log', 'data.mdb');
      const bytes = readFileSync(file);
      let hits = 0;
      for (let at = bytes.indexOf(MARK); at >= 0; at = bytes.indexOf(MARK, at + 1)) {
        bytes[at + 2]! ^= 1;
        hits++;
      }
      expect(hits).to.be.at.least(1);
      writeFileSync(file, bytes);
    });
  });
  after(async () => {
    await client?.dispose();
    await server?.stop();
  });

  it('is refused with its position to readers of its stream', async () => {
    const refusal = await rejection(collect(client.readStream('toys.hurt')));
    expect(refusal).to.include({ code: 15 });
    expect(String(refusal)).to.include(`position ${position} is damaged`);
  });

  it('is distinguished from an unavailable store', async () => {
    const log = createEventLog(client, { encode: async () => undefined, decode: () => [] }, silentLogger);
    expect(await rejection(log.read('toys.hurt'))).to.be.instanceOf(CorruptEventError);
  });

  it('does not block later events', async () => {
    const filter = streamNameFilter({ prefixes: ['toys.'] });
    const followed = await take(client.subscribeToAll({ filter }), 2);
    expect(followed.map(({ event: found }) => found?.streamId)).to.deep.equal(['toys.other', 'toys.other']);
    const read = (await collect(client.readAll())).map(({ event: found }) => found?.streamId);
    expect(read.filter((stream) => stream?.startsWith('toys.'))).to.deep.equal(['toys.other', 'toys.other']);
    expect(await collect(client.readStream('toys.other'))).to.have.length(2);
  });
});

describe('a damaged page', () => {
  const PAGE = 8192;
  let server: Awaited<ReturnType<typeof embeddedEventStore>>;
  let client: EventStoreDBClient;

  before(async () => {
    server = await embeddedEventStore(await mkdtemp(join(tmpdir(), 'annals-damaged-')));
    client = EventStoreDBClient.connectionString(server.url);
    const appendNote = (stream: string, text: string) =>
      client.appendToStream(stream, jsonEvent({ type: 'Noted', data: { text: text.padEnd(1500) } }));
    for (let n = 0; n < 20; n++) await appendNote('toys.hurt', MARK);
    // Pages that are read when the store is opened are separate.
    for (let n = 0; n < 20; n++) await appendNote('toys.other', 'after');
    await server.embedded.restart('SIGTERM', () => {
      const file = join(server.embedded.directory, 'log', 'data.mdb');
      const bytes = readFileSync(file);
      for (let at = bytes.indexOf(MARK); at >= 0; at = bytes.indexOf(MARK, at)) {
        const page = at - (at % PAGE);
        bytes.fill(0xe0, page, page + PAGE);
      }
      writeFileSync(file, bytes);
    });
  });
  after(async () => {
    await client?.dispose();
    await server?.stop();
  });

  it('is reported with what to do, not as an unavailable store', async () => {
    const refusal = await rejection(collect(client.readStream('toys.hurt')));
    expect(refusal).to.include({ code: 15 });
    expect(String(refusal)).to.match(/damaged, restore it from a backup/);
    const log = createEventLog(client, { encode: async () => undefined, decode: () => [] }, silentLogger);
    expect(await rejection(log.read('toys.hurt'))).to.be.instanceOf(CorruptEventError);
  });
});

describe('a damaged index', () => {
  const PAGE = 8192;
  let server: Awaited<ReturnType<typeof embeddedEventStore>>;
  let client: EventStoreDBClient;
  let positions: readonly bigint[];

  const noted = (text: string) => jsonEvent({ type: 'Noted', data: { text } });
  const u48 = (number: number | bigint) => Buffer.from(BigInt(number).toString(16).padStart(12, '0'), 'hex');

  /** Changes every occurrence of the bytes in pages with `mark`, or without it in pages of no event. */
  async function damage(bytes: Buffer, inEvents: boolean, change: (file: Buffer, at: number) => void) {
    await server.embedded.restart('SIGTERM', () => {
      const path = join(server.embedded.directory, 'log', 'data.mdb');
      const file = readFileSync(path);
      let hits = 0;
      for (let at = file.indexOf(bytes); at >= 0; at = file.indexOf(bytes, at + 1)) {
        const page = file.subarray(at - (at % PAGE), at - (at % PAGE) + PAGE);
        if (page.includes(MARK) !== inEvents) continue;
        change(file, at);
        hits++;
      }
      expect(hits).to.be.at.least(1);
      writeFileSync(path, file);
    });
  }
  const refusedBy = async (call: Promise<unknown>) => String(await rejection(call));

  beforeEach(async () => {
    server = await embeddedEventStore(await mkdtemp(join(tmpdir(), 'annals-damaged-')));
    client = EventStoreDBClient.connectionString(server.url);
    const appended = [];
    for (let n = 0; n < 3; n++) appended.push(await client.appendToStream('toys.hurt', noted(MARK)));
    positions = appended.map(({ position }) => position!.commit);
    for (const name of ['toys.h', 'toys.z']) await client.appendToStream(name, noted(MARK));
  });
  afterEach(async () => {
    await client?.dispose();
    await server?.stop();
  });

  it('never makes an existing stream appear new', async () => {
    // A damaged name between others, which misleads searches.
    await damage(Buffer.from('toys.hurt'), false, (file, at) => {
      file[at + 6]! ^= 8;
    });
    expect(await refusedBy(collect(client.readStream('toys.hurt')))).to.match(/index of the store is damaged/);
    await rejection(client.appendToStream('toys.hurt', noted('again'), { expectedRevision: 'no_stream' }));
    for (const name of ['toys.h', 'toys.z']) expect(await collect(client.readStream(name))).to.have.length(1);
    const fresh = await rejection(collect(client.readStream('toys.a')));
    expect(fresh).to.have.property('type', 'stream-not-found');
  });

  it('never omits an event of a stream, or of $all, silently', async () => {
    const at = u48(positions[1]!);
    await damage(at, true, (file, place) => {
      file[place + 5]! ^= 1;
    });
    const report = `position ${positions[1]} is damaged`;
    expect(await refusedBy(collect(client.readStream('toys.hurt')))).to.include(report);
    const filter = streamNameFilter({ prefixes: ['toys.'] });
    const followed = await take(client.subscribeToAll({ filter }), 4);
    expect(followed.map(({ event }) => event?.streamId)).to.deep.equal(['toys.hurt', 'toys.hurt', 'toys.h', 'toys.z']);
  });

  it('never reports the end of a category that is cut in the middle', async () => {
    const first = Buffer.from('00000001', 'hex');
    await damage(Buffer.concat([first, u48(positions[1]!)]), false, (file, at) => {
      file[at] = 0x80;
    });
    const filter = streamNameFilter({ prefixes: ['toys.'] });
    const refusal = await rejection(take(client.subscribeToAll({ filter }), 5));
    expect(String(refusal)).to.match(/damaged, restore it from a backup/);
  });

  for (const [which, revision] of [
    ['first', 0],
    ['middle', 1],
  ] as const)
    it(`refuses a stream without its ${which} event`, async () => {
      await damage(Buffer.concat([u48(revision), u48(positions[revision]!)]), false, (file, at) => {
        file[at + 3]! = 0xff;
      });
      expect(await refusedBy(collect(client.readStream('toys.hurt')))).to.match(/damaged/);
    });
});
