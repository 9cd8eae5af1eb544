/** Between events and their stored form: names, versions, schemas, sealed members. */
import { randomUUID } from 'node:crypto';
import { rejection } from '@annals/engines/testing/eventstore-client.js';
import type { ResolvedEvent } from '@eventstore/db-client';
import { expect } from 'chai';
import { type Codec, createCodec } from '../../../adapters/eventstore/codec.js';
import type { Vault } from '../../../application/ports/index.js';
import type { Catalog, DomainEvent, EventVersion } from '../../../domain/shared/decider.js';

// Keywords unknown to ajv are for readers of the documents.
const text = { type: 'string', format: 'word', example: 'leo' } as const;
const needs = (...names: readonly string[]) => ({
  type: 'object',
  required: names,
  properties: Object.fromEntries(names.map((name) => [name, text])),
});
const oldest: EventVersion = {
  schema: needs('names'),
  // An event that named several things becomes one event each.
  upcast: ({ data }) =>
    String((data as { names: string }).names)
      .split(' ')
      .map((name) => ({ type: 'Named', data: { name } })),
};
const older: EventVersion = {
  schema: needs('name'),
  upcast: ({ type, data }) => [{ type, data: { ...data, since: 'always' } }],
};

const zoo: Catalog = {
  service: 'zoo',
  events: {
    Named: { versions: [oldest, older, { schema: needs('name', 'since') }] },
    Fed: {
      versions: [{ schema: { ...needs('animal'), properties: { animal: text, secret: { type: 'object' } } } }],
      sealed: { subject: ({ animal }: { animal: string }) => `animal:${animal}`, erased: {} },
    },
  },
};

describe('the codec', () => {
  const vault = {
    seal: async (subject: string, secret: object) =>
      subject === 'animal:dodo' ? undefined : `${subject} ${JSON.stringify(secret)}`,
  } as unknown as Vault;
  let encode: Codec['encode'];
  let decode: Codec['decode'];
  beforeEach(() => {
    ({ encode, decode } = createCodec([zoo], vault));
  });
  const event = (type: string, data: object) =>
    ({ id: randomUUID(), event: { type, data } as DomainEvent, metadata: { actor: 'ann' } }) as const;
  const created = new Date(1_800_000_000_000);
  const stored = (type: string, data: unknown, more: object = {}) =>
    ({
      event: {
        id: 'the id',
        streamId: 'zoo.animal-1',
        revision: 7n,
        position: { commit: 9_007_199_254_740_993n, prepare: 1n },
        created,
        type,
        data,
        metadata: { actor: 'ann' },
        ...more,
      },
    }) as unknown as ResolvedEvent;

  it('stores an event under its service, name and newest version', async () => {
    const named = event('Named', { name: 'leo', since: 'today' });
    expect(await encode('zoo.animal-1', named)).to.deep.include({
      id: named.id,
      type: 'zoo.Named.v3',
      data: { name: 'leo', since: 'today' },
      metadata: { actor: 'ann' },
    });
  });

  it('rejects events that are not in the catalog or do not match it, and names the error', async () => {
    for (const [stream, type, data, message] of [
      ['zoo.animal-1', 'Escaped', {}, /^Escaped is not in the catalog of zoo$/],
      ['park.tree-1', 'Named', { name: 'oak', since: 'x' }, /^Named is not in the catalog of park$/],
      ['zoo.animal-1', 'Named', { name: 'leo' }, /^zoo\.Named\.v3 does not fit its schema: .*since/],
      ['zoo.animal-1', 'Named', { name: 1, since: 'x' }, /^zoo\.Named\.v3 does not fit its schema: .*name/],
    ] as const) {
      const refused = await rejection(encode(stream, event(type, data)));
      expect(refused).to.have.property('message').that.matches(message);
      // The compiled schema is cached and gives the same verdict.
      expect(await rejection(encode(stream, event(type, data)))).to.have.property(
        'message',
        String((refused as Error).message),
      );
    }
  });

  it("seals secrets under their subject's key, also when they are empty", async () => {
    const fed = event('Fed', { animal: 'leo', secret: { what: 'meat' } });
    expect((await encode('zoo.animal-1', fed))?.data).to.deep.equal({
      animal: 'leo',
      secret: 'animal:leo {"what":"meat"}',
    });
    const nothing = await encode('zoo.animal-1', event('Fed', { animal: 'leo' }));
    expect(nothing?.data).to.deep.equal({ animal: 'leo', secret: 'animal:leo {}' });
  });

  it('rejects events about a subject whose key is destroyed', async () => {
    expect(await encode('zoo.animal-1', event('Fed', { animal: 'dodo', secret: {} }))).to.equal(undefined);
  });

  it('decodes an event with everything the store knows about it', () => {
    expect(decode(stored('zoo.Named.v3', { name: 'leo', since: 'today' }))).to.deep.equal([
      {
        id: 'the id',
        stream: 'zoo.animal-1',
        revision: 7,
        position: 9_007_199_254_740_993n,
        recordedAt: created.getTime(),
        type: 'Named',
        version: 3,
        data: { name: 'leo', since: 'today' },
        metadata: { actor: 'ann' },
      },
    ]);
    const [bare] = decode(stored('zoo.Named.v3', { name: 'leo', since: 'x' }, { metadata: 'not JSON' }));
    expect(bare?.metadata).to.deep.equal({});
  });

  it('upcasts events of older versions, also into several events', () => {
    const given = (type: string, data: object) => decode(stored(type, data)).map((each) => [each.version, each.data]);
    expect(given('zoo.Named.v2', { name: 'leo' })).to.deep.equal([[2, { name: 'leo', since: 'always' }]]);
    expect(given('zoo.Named.v1', { names: 'leo kim' })).to.deep.equal([
      [1, { name: 'leo', since: 'always' }],
      [1, { name: 'kim', since: 'always' }],
    ]);
  });

  it('supports versions above nine', () => {
    const versions = Array.from({ length: 12 }, () => ({ schema: {} }));
    const old = createCodec([{ service: 'zoo', events: { Named: { versions } } }], vault);
    expect(old.decode(stored('zoo.Named.v12', {})).map(({ version }) => version)).to.deep.equal([12]);
    expect(old.decode(stored('zoo.Named.v13', {}))).to.deep.equal([]);
  });

  it("decodes the store's own events under their own names", () => {
    const [deleted] = decode(stored('$streamDeleted', new Uint8Array()));
    expect(deleted).to.deep.include({
      type: '$streamDeleted',
      version: 0,
      data: {},
      metadata: {},
      revision: 7,
    });
  });

  it('ignores unknown events and events that are not ours', () => {
    for (const [type, data] of [
      ['zoo.Named.v4', { name: 'leo', since: 'x' }],
      ['zoo.Escaped.v1', {}],
      ['zoo.toString.v1', {}],
      ['park.Named.v1', {}],
      ['Named', {}],
      ['a zoo.Named.v3', {}],
      ['zoo.Named.v3 ', {}],
      ['zoo.Named.v', {}],
      ['ZOO.Named.v3', {}],
      ['zoo.Named.v3', 'no JSON'],
      ['zoo.Named.v3', null],
      ['zoo.Named.v3', []],
      ['zoo.Named.v3', new Uint8Array()],
    ] as const)
      expect(decode(stored(type, data)), `${type} ${data}`).to.deep.equal([]);
    expect(decode(stored('zoo.Named.v3', { name: 'leo', since: 'x' }, { position: undefined }))).to.deep.equal([]);
    for (const streamId of ['park.tree-1', 'copy-of-zoo.animal-1', 'zoo', '$ce-zoo'])
      expect(decode(stored('zoo.Named.v3', { name: 'leo', since: 'x' }, { streamId })), streamId).to.deep.equal([]);
    expect(decode({} as ResolvedEvent)).to.deep.equal([]);
  });
});
