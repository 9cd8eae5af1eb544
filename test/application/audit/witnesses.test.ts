/** Witnesses of the transparency log over HTTP: a checkpoint counts once more than half of them have cosigned it. */
import { expect } from 'chai';
import { createWitness } from '../../../adapters/outbound/witness.js';
import {
  auditTask,
  createSigner,
  openCheckpoint,
  parseVerifier,
  publishedCheckpoint,
  type Witness,
} from '../../../application/audit/index.js';
import type { Lease } from '../../../application/ports/index.js';
import { eventNumber, transparencyLog } from '../../support/transparency-log.js';
import { startWitness, type TestWitness } from '../../support/witness.js';

const LOG_KEY = createSigner('annals', Buffer.alloc(32, 1)).verifier;

describe('witnesses of the transparency log', () => {
  let servers: TestWitness[];
  let witnesses: Witness[];

  beforeEach(async () => {
    servers = await Promise.all(['w.example/1', 'w.example/2', 'w.example/3'].map(startWitness));
    witnesses = servers.map(({ setting }) => createWitness(setting)!);
  });
  afterEach(() => Promise.all(servers.map((server) => server.close())));

  const published = async (log: ReturnType<typeof transparencyLog>) => publishedCheckpoint(await log.head(), witnesses);
  const fail = (server: TestWitness) => {
    server.answer = (response) => response.writeHead(500).end('no');
  };
  const keysOf = (...numbers: number[]) => numbers.map((number) => parseVerifier(servers[number]!.key)!);

  it('cosign a checkpoint, which anyone can verify with their keys', async () => {
    const log = transparencyLog(3, witnesses);
    await log.catchUp();
    const checkpoint = (await published(log))!;
    expect(openCheckpoint(checkpoint, [LOG_KEY])?.size).to.equal(4);
    expect(openCheckpoint(checkpoint, [LOG_KEY, ...keysOf(0, 1, 2)])?.size).to.equal(4);
    expect(openCheckpoint(checkpoint, keysOf(0, 1, 2))).to.equal(undefined);
    const { checkpoint: signed } = await log.head();
    expect(openCheckpoint(signed!, [LOG_KEY, ...keysOf(0)])).to.equal(undefined);
    const stranger = await startWitness('w.example/4');
    servers.push(stranger);
    expect(openCheckpoint(checkpoint, [LOG_KEY, parseVerifier(stranger.key)!])).to.equal(undefined);
    const change = (_: string, start: string, character: string) => start + (character === 'A' ? 'B' : 'A');
    const forged = checkpoint.replace(/(— w.example\/1 .{30})(.)/, change);
    expect(openCheckpoint(forged, [LOG_KEY, ...keysOf(0)])).to.equal(undefined);
  });

  it('cosign later checkpoints that extend the last one, however long they were away', async () => {
    const log = transparencyLog(300, witnesses);
    await log.catchUp();
    for (const size of [301, 700, 2000]) {
      while (log.events.length < size) log.events.push(eventNumber(log.events.length));
      if (size === 700) fail(servers[2]!);
      else servers[2]!.answer = undefined;
      await log.catchUp();
      const checkpoint = (await published(log))!;
      expect(openCheckpoint(checkpoint, [LOG_KEY, ...keysOf(0, 1)])?.size).to.equal(size + 1);
    }
    expect(servers[0]!.statuses).to.deep.equal([200, 200, 200, 200]);
    expect(servers[2]!.statuses).to.deep.equal([200, 200, 409, 200]);
    // Nothing is asked of them while nothing happens.
    await log.catchUp();
    expect(servers[0]!.statuses).to.have.length(4);
  });

  it('leave the last checkpoint in force while half of them or more do not cosign', async () => {
    const log = transparencyLog(3, witnesses);
    await log.catchUp();
    const first = await published(log);
    log.events.push(eventNumber(3));
    fail(servers[1]!);
    servers[2]!.answer = (response) => response.end('— w.example/3 AAAA\n');
    await log.catchUp();
    expect((await log.head()).size).to.equal(5);
    expect(await published(log)).to.equal(first);
    servers[1]!.answer = undefined;
    await log.catchUp();
    expect(openCheckpoint((await published(log))!, [LOG_KEY, ...keysOf(0, 1)])?.size).to.equal(5);
  });

  it('are asked again if they missed the newest checkpoint, and count only while they are configured', async () => {
    const log = transparencyLog(3, witnesses);
    fail(servers[2]!);
    await log.catchUp();
    servers[2]!.answer = undefined;
    await log.catchUp();
    expect(openCheckpoint((await published(log))!, [LOG_KEY, ...keysOf(0, 1, 2)])?.size).to.equal(4);
    expect(servers[0]!.statuses).to.deep.equal([200]);
    const head = await log.head();
    const stranger = await startWitness('w.example/4');
    servers.push(stranger);
    const [first, second] = witnesses as [Witness, Witness];
    expect(publishedCheckpoint(head, [createWitness(stranger.setting)!])).to.equal(undefined);
    expect(publishedCheckpoint(head, [first, createWitness(stranger.setting)!])).to.equal(undefined);
    expect(publishedCheckpoint({ cosigned: head.cosigned }, [first, first, second])).to.be.a('string');
    expect(publishedCheckpoint({ cosigned: head.cosigned }, [first, first, createWitness(stranger.setting)!])).to.equal(
      undefined,
    );
  });

  it('see the old key and the new one together, however long they are away after a rotation', async () => {
    const log = transparencyLog(3, witnesses);
    await log.catchUp();
    await log.store.nextKey();
    for (const server of servers) fail(server);
    for (let round = 0; round < 3; round++) {
      log.events.push(eventNumber(log.events.length));
      await log.catchUp();
    }
    for (const server of servers) server.answer = undefined;
    await log.catchUp();
    const next = createSigner('annals', Buffer.alloc(32, 2)).verifier;
    for (const key of [LOG_KEY, next]) expect(openCheckpoint((await published(log))!, [key])?.size).to.equal(8);
    log.events.push(eventNumber(log.events.length));
    await log.catchUp();
    expect(openCheckpoint((await published(log))!, [next])?.size).to.equal(9);
    expect(openCheckpoint((await published(log))!, [LOG_KEY])).to.equal(undefined);
  });

  it('refuse another history', async () => {
    const log = transparencyLog(300, witnesses);
    await log.catchUp();
    const regrown = transparencyLog(0, witnesses);
    regrown.events.push(...Array.from({ length: 400 }, (_, number) => eventNumber(number, 'b')));
    await regrown.catchUp();
    expect(await published(regrown)).to.equal(undefined);
    for (const { statuses } of servers) expect(statuses).to.deep.equal([200, 409, 422]);
    const shorter = transparencyLog(200, witnesses);
    await shorter.catchUp();
    expect(await published(shorter)).to.equal(undefined);
  });

  it('do not delay new events', async () => {
    for (const server of servers) server.answer = () => {};
    const log = transparencyLog(2500, witnesses);
    const stop = new AbortController();
    const wait = async () => stop.abort();
    await auditTask(log.ports, wait)({ assertHeld() {} } as Lease, stop.signal);
    expect((await log.head()).size).to.be.greaterThan(2000);
  });

  it('are given as an address and a key', () => {
    const [{ key } = { key: '' }] = servers;
    expect(createWitness(`https://w.example ${key}`)?.verifier.name).to.equal('w.example/1');
    for (const wrong of ['', key, `w.example ${key}`, 'https://w.example', `https://w.example ${LOG_KEY.line}`])
      expect(createWitness(wrong), wrong).to.equal(undefined);
  });
});
