/** A stolen copy of both databases, log and keys, without the secret: nothing can be decrypted. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { findRuntime } from '@annals/engines/internal/supervisor/runtime-file.js';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { EventStoreDBClient, START } from '@eventstore/db-client';
import { expect } from 'chai';
import { Binary, MongoClient } from 'mongodb';
import { aes256gcm } from '../../adapters/crypto/cipher.js';
import { createDerivation } from '../../adapters/crypto/derivation.js';
import { sessionToken } from '../../application/rooms/authenticate.js';
import { createRoom } from '../support/room-client.js';
import { type Server, startServer } from '../support/server-process.js';

describe('a dump of log and keys', function () {
  this.timeout(120_000);
  const directory = temporaryDirectory();
  let server: Server;
  before(async () => {
    server = await startServer(directory.path, ['rooms']);
  });
  after(async () => {
    await server.stop();
    directory.remove();
  });

  it('allows neither forging the session token of a room nor decrypting an event', async () => {
    const ada = await createRoom(server.urls.rooms ?? '', 'Ada');
    await ada.post('for us alone');
    const { mongoUrl, eventStoreUrl } = findRuntime(directory.path)!;
    const candidates = await binariesOf(mongoUrl);
    expect(candidates).to.have.length.greaterThan(1);
    const found: string[] = [];
    let [commands, secrets] = [0, 0];
    for (const { commandId, secret } of await eventsOf(eventStoreUrl)) {
      for (const candidate of candidates) {
        if (commandId && sessionToken(createDerivation(candidate), commandId) === ada.sessionToken)
          found.push('the session token');
        if (secret && opens(candidate, secret)) found.push('a secret');
      }
      commands += commandId ? 1 : 0;
      secrets += secret ? 1 : 0;
    }
    expect([commands, secrets].every((count) => count > 1)).to.equal(true);
    expect(found).to.deep.equal([]);
  });

  it('is useful only with the secret, a file created at the first start with access for this user only', () => {
    const path = join(directory.path, 'secret');
    expect(readFileSync(path, 'utf8').trim()).to.have.length.greaterThan(32);
    expect((statSync(path).mode & 0o777).toString(8)).to.equal('600');
    expect(server.lines.join('\n')).not.to.contain(readFileSync(path, 'utf8').trim());
  });
});

/** Every 32-byte value in the key database: each might be a key. */
async function binariesOf(url: string): Promise<Buffer[]> {
  const client = await MongoClient.connect(url);
  const database = client.db('annals_keys');
  const collections = await database.listCollections().toArray();
  const rows = await Promise.all(collections.map(({ name }) => database.collection(name).find().toArray()));
  await client.close();
  const bytes = rows.flat().flatMap((row) => Object.values(row).filter((value) => value instanceof Binary));
  return bytes.flatMap(({ buffer }) =>
    Array.from({ length: buffer.length - 31 }, (_, at) => Buffer.from(buffer.subarray(at, at + 32))),
  );
}

interface Stored {
  readonly commandId: string | undefined;
  readonly secret: string | undefined;
}

async function eventsOf(url: string): Promise<Stored[]> {
  const client = EventStoreDBClient.connectionString(url);
  const events: Stored[] = [];
  const text = (object: unknown, name: string) => {
    const value = typeof object === 'object' && object !== null && name in object && Reflect.get(object, name);
    return typeof value === 'string' ? value : undefined;
  };
  for await (const { event } of client.readAll({ fromPosition: START, maxCount: 1000 }))
    events.push({ commandId: text(event?.metadata, 'commandId'), secret: text(event?.data, 'secret') });
  await client.dispose();
  return events;
}

function opens(key: Buffer, sealed: string): boolean {
  try {
    aes256gcm.open(key, sealed);
    return true;
  } catch {
    return false;
  }
}
