/** The protocol of encrypted rooms: order, loss, replay, tampering and wrong keys. */
import { expect } from 'chai';
import fc from 'fast-check';
import { importWeb } from '../support/web-module.js';

type Bytes = Uint8Array<ArrayBuffer>;
type Key = object;
interface KeyPair {
  readonly privateKey: Key;
  readonly publicKey: Key;
}
interface Step {
  readonly chainId: string;
  readonly messageIndex: number;
  readonly chainKey: Bytes;
}
interface Envelope {
  readonly [field: string]: string | number;
}
interface Place {
  readonly roomId: string;
  readonly senderId: string;
}
interface Package {
  readonly version: number;
  readonly ephemeral: string;
  readonly keys: { readonly [id: string]: { readonly nonce: string; readonly ciphertext: string } };
}
interface Arriving {
  readonly id: string;
  readonly senderId: string;
  readonly chainId: string;
  readonly messageIndex: number;
}

interface Protocol {
  randomBytes(size: number): Bytes;
  startChain(): Step;
  advanceChain(step: Step): Promise<Step>;
  importRoomKey(version: number, raw: Bytes): Promise<Key>;
  seal(roomKey: Key, step: Step, signingKey: Key, place: Place, content: Bytes): Promise<Envelope>;
  open(roomKey: Key | undefined, verifyingKey: Key, place: Place, envelope: Envelope): Promise<Bytes>;
  generateSigningKeys(): Promise<KeyPair>;
  publicKeyOf(pair: KeyPair): Promise<{ x: string; y: string }>;
  importVerifyingKey(key: object): Promise<Key>;
  fingerprintOf(roomId: string, participantId: string, key: object): Promise<string>;
  generateAgreementKeys(): Promise<KeyPair>;
  agreementKeyOf(pair: KeyPair): Promise<string>;
  packKey(roomId: string, version: number, key: Bytes, recipients: ReadonlyMap<string, string>): Promise<Package>;
  unpackKey(roomId: string, id: string, pair: KeyPair, keys: Package): Promise<Bytes | undefined>;
  createSequence(): { accept(message: Arriving): { kind: string; missing?: number } };
  pad(content: Bytes): Bytes;
  unpad(padded: Bytes): Bytes;
  paddedSize(size: number): number;
}

const RUNS = { numRuns: 15 };
const bytes = fc.uint8Array({ maxLength: 700 }).map((content) => Uint8Array.from(content));
const place: Place = { roomId: 'room', senderId: 'ada' };

describe('room protocol', function () {
  this.timeout(60_000);
  let protocol: Protocol;
  let keys: KeyPair;
  let verifyingKey: Key;
  let roomKey: Key;

  before(async () => {
    protocol = await importWeb<Protocol>('rooms/crypto/protocol.ts', 'rooms/crypto/padding.ts');
    keys = await protocol.generateSigningKeys();
    verifyingKey = await protocol.importVerifyingKey(await protocol.publicKeyOf(keys));
    roomKey = await protocol.importRoomKey(1, protocol.randomBytes(32));
  });

  async function sealAll(contents: readonly Bytes[]): Promise<Envelope[]> {
    const sealed: Envelope[] = [];
    let step = protocol.startChain();
    for (const content of contents) {
      sealed.push(await protocol.seal(roomKey, step, keys.privateKey, place, content));
      step = await protocol.advanceChain(step);
    }
    return sealed;
  }

  const sealOne = async (content: Bytes) => (await sealAll([content]))[0]!;
  const faultOf = (opening: Promise<unknown>) =>
    opening.then(
      () => 'opened',
      (error: { fault?: string }) => error.fault,
    );

  it('opens messages in any order, also when others are lost', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(bytes, { minLength: 1, maxLength: 6 }),
        fc.infiniteStream(fc.nat()),
        async (contents, random) => {
          const sealed = await sealAll(contents);
          const arriving = sealed
            .map((envelope, at) => ({ envelope, content: contents[at], rank: random.next().value as number }))
            .filter(({ rank }) => rank % 4 !== 0)
            .sort((a, b) => a.rank - b.rank);
          for (const { envelope, content } of arriving)
            expect(await protocol.open(roomKey, verifyingKey, place, envelope)).to.deep.equal(content);
        },
      ),
      RUNS,
    ));

  it('rejects a message with any field changed, and in any other place', () =>
    fc.assert(
      fc.asyncProperty(bytes, fc.nat(), fc.nat(), async (content, field, position) => {
        const envelope = await sealOne(content);
        const names = Object.keys(envelope);
        const name = names[field % names.length]!;
        const changed = { ...envelope, [name]: changedValue(envelope[name]!, position) };
        expect(await faultOf(protocol.open(roomKey, verifyingKey, place, changed))).to.equal('forged');
        for (const elsewhere of [
          { ...place, roomId: 'other' },
          { ...place, senderId: 'bob' },
        ])
          expect(await faultOf(protocol.open(roomKey, verifyingKey, elsewhere, envelope))).to.equal('forged');
      }),
      RUNS,
    ));

  it('rejects wrong keys, and says which is missing', async () => {
    const envelope = await sealOne(Uint8Array.of(1, 2, 3));
    const stranger = await protocol.generateSigningKeys();
    const other = await protocol.importVerifyingKey(await protocol.publicKeyOf(stranger));
    const otherRoomKey = await protocol.importRoomKey(1, protocol.randomBytes(32));
    const nextRoomKey = await protocol.importRoomKey(2, protocol.randomBytes(32));
    expect(await faultOf(protocol.open(roomKey, other, place, envelope))).to.equal('forged');
    expect(await faultOf(protocol.open(otherRoomKey, verifyingKey, place, envelope))).to.equal('damaged');
    expect(await faultOf(protocol.open(nextRoomKey, verifyingKey, place, envelope))).to.equal('key-missing');
    expect(await faultOf(protocol.open(undefined, verifyingKey, place, envelope))).to.equal('key-missing');
  });

  it('derives each chain key one-way, and overwrites the one before', async () => {
    const first = protocol.startChain();
    const start = Uint8Array.from(first.chainKey);
    const second = await protocol.advanceChain(first);
    expect(first.chainKey.every((byte) => byte === 0)).to.equal(true);
    const again = await protocol.advanceChain({ ...first, chainKey: start });
    expect(again.chainKey).to.deep.equal(second.chainKey);
    expect(second).to.include({ chainId: first.chainId, messageIndex: 1 });
    // The same key elsewhere in a chain gives other keys.
    const moved = await protocol.advanceChain({ ...second, messageIndex: 7 });
    expect(moved.chainKey).not.to.deep.equal((await protocol.advanceChain({ ...again })).chainKey);
  });

  it('encrypts the same text differently each time, and hides its length', async () => {
    const texts = [Uint8Array.of(1), new Uint8Array(200)];
    const sealed = await sealAll([...texts, ...texts]);
    expect(new Set(sealed.map(({ ciphertext }) => ciphertext)).size).to.equal(4);
    expect(new Set(sealed.map(({ ciphertext }) => String(ciphertext).length)).size).to.equal(1);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 5000 }), (content) => {
        const padded = protocol.pad(Uint8Array.from(content));
        expect(protocol.unpad(padded)).to.deep.equal(Uint8Array.from(content));
        expect(padded.length).to.equal(protocol.paddedSize(content.length + 4));
        expect(padded.length).to.be.at.most(Math.max(256, 1.13 * (content.length + 4)));
      }),
    );
  });

  it('accepts each place in a chain once, and counts the missing', () =>
    fc.assert(
      fc.property(fc.array(fc.nat(12), { maxLength: 40 }), (indexes) => {
        const { accept } = protocol.createSequence();
        const seen = new Set<number>();
        let missing = 0;
        for (const messageIndex of indexes) {
          const message = { id: `m${messageIndex}`, senderId: 'ada', chainId: 'c', messageIndex };
          const { kind, missing: before = 0 } = accept(message);
          missing += before;
          expect(kind).to.equal(seen.has(messageIndex) ? 'known' : 'new');
          seen.add(messageIndex);
          expect(accept({ ...message, id: 'another' }).kind).to.equal('replayed');
          expect(accept({ ...message, senderId: 'bob', id: `b${messageIndex}` }).kind).not.to.equal('replayed');
        }
        expect(missing).to.be.at.least(Math.max(-1, ...seen) + 1 - seen.size);
      }),
    ));

  it('gives a new room key to its recipients only', async () => {
    const [ada, bob, eve] = await Promise.all([1, 2, 3].map(() => protocol.generateAgreementKeys()));
    const recipients = new Map([
      ['ada', await protocol.agreementKeyOf(ada!)],
      ['bob', await protocol.agreementKeyOf(bob!)],
    ]);
    const key = protocol.randomBytes(32);
    const keys = await protocol.packKey('room', 2, key, recipients);
    expect(await protocol.unpackKey('room', 'ada', ada!, keys)).to.deep.equal(key);
    expect(await protocol.unpackKey('room', 'bob', bob!, keys)).to.deep.equal(key);
    expect(await protocol.unpackKey('room', 'eve', eve!, keys)).to.equal(undefined);
    const refused = [
      protocol.unpackKey('room', 'bob', eve!, keys),
      protocol.unpackKey('other', 'bob', bob!, keys),
      protocol.unpackKey('room', 'bob', bob!, { ...keys, version: 3 }),
      protocol.unpackKey('room', 'bob', bob!, { ...keys, keys: { bob: keys.keys.ada! } }),
    ];
    for (const each of await Promise.allSettled(refused)) expect(each.status).to.equal('rejected');
    // A recipient with an agreement key off the curve gets no room key; the others do.
    for (const broken of ['AAAA', 'BAAA', '-', 'A'.repeat(87)]) {
      const others = await protocol.packKey('room', 2, key, new Map([...recipients, ['mallory', broken]]));
      expect(Object.keys(others.keys)).to.deep.equal(['ada', 'bob']);
    }
  });

  it('shows fingerprints that differ by key, person and room', async () => {
    const [one, two] = await Promise.all([keys, await protocol.generateSigningKeys()].map(protocol.publicKeyOf));
    const prints = [
      await protocol.fingerprintOf('room', 'ada', one!),
      await protocol.fingerprintOf('room', 'ada', two!),
      await protocol.fingerprintOf('room', 'bob', one!),
      await protocol.fingerprintOf('other', 'ada', one!),
    ];
    expect(prints[0]).to.match(/^(\d{5} ){5}\d{5}$/);
    expect(new Set(prints).size).to.equal(4);
    expect(await protocol.fingerprintOf('room', 'ada', one!)).to.equal(prints[0]);
  });
});

/** Another value of the same kind. The last character of base64url may have unused bits, so another one is changed. */
function changedValue(value: string | number, position: number): string | number {
  if (typeof value === 'number') return value + 1;
  const at = position % (value.length - 1);
  return value.slice(0, at) + (value[at] === 'A' ? 'B' : 'A') + value.slice(at + 1);
}
