/** Unsent messages, rooms and keys that the page of rooms keeps, without a browser: memory takes the place of its storage. */
import { expect } from 'chai';
import { importWeb } from '../support/web-module.js';

interface Envelope {
  readonly keyVersion: number;
  readonly chainId: string;
  readonly messageIndex: number;
}
interface Pending {
  readonly id: string;
  readonly state: string;
}
interface Outbox {
  readonly pending: { readonly value: readonly Pending[] };
  add(contents: readonly object[]): Promise<void>;
  flush(): Promise<void>;
  hurry(): void;
  arrived(ids: readonly string[]): void;
  retry(id: string): void;
  close(): void;
}
interface RoomRow {
  readonly roomId: string;
  readonly expiresAt: number;
}
interface Secrets {
  readonly verified: { readonly [id: string]: string };
  readonly seen?: { readonly [id: string]: string };
}
interface Roster {
  update(people: readonly object[]): Promise<void>;
  verificationOf(id: string): string;
  setVerified(id: string, isVerified: boolean): Promise<void>;
}
interface Page {
  ApiError: new (message: string, status: number) => Error;
  createOutbox(options: object): Outbox;
  generateCipherKey(): Promise<object>;
  fateOf(earlier: Envelope, keyVersion: number, arrived: ReadonlySet<string>): string;
  placeOf(envelope: Envelope): string;
  createRoster(roomId: string, ownId: string, ownDigest: string, keyring: object): Roster;
  generateSigningKeys(): Promise<object>;
  publicKeyOf(pair: object): Promise<object>;
  removeEnded(now: number): Promise<void>;
  openRooms(now: number): Promise<readonly RoomRow[]>;
  rooms: { put(row: RoomRow): Promise<void>; get(id: string): Promise<RoomRow | undefined> };
}

const envelope = (keyVersion: number): Envelope => ({ keyVersion, chainId: `chain ${keyVersion}`, messageIndex: 0 });

describe('rooms page, what it keeps', () => {
  let page: Page;
  before(async () => {
    if (!('navigator' in globalThis)) Object.assign(globalThis, { navigator: {} });
    const files = ['outbox', 'roster', 'store', 'crypto/protocol'].map((name) => `rooms/${name}.ts`);
    page = await importWeb<Page>(...files, 'shared/api/http.ts');
  });

  it('seals a message again if the room key was changed before it arrived', async () => {
    const posted: { readonly sent: Envelope; readonly key: string }[] = [];
    let version = 1;
    const envelopes: (Envelope | undefined)[] = [];
    const outbox = page.createOutbox({
      roomId: 'r',
      localKey: await page.generateCipherKey(),
      seal: async (_: object, earlier?: Envelope) => {
        envelopes.push(earlier);
        return earlier && earlier.keyVersion >= version ? earlier : envelope(version);
      },
      post: async (sent: Envelope, key: string) => {
        posted.push({ sent, key });
        if (posted.length > 1) return { message: { id: 'm1' } };
        version = 2;
        setTimeout(() => outbox.hurry());
        throw new Error('offline');
      },
      onRefused: () => {},
    });
    await outbox.add([{ kind: 'text', text: 'without Eve' }]);
    while (posted.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(envelopes).to.deep.equal([undefined, envelope(1)]);
    expect(posted.map(({ sent }) => sent.keyVersion)).to.deep.equal([1, 2]);
    expect(posted[1]?.key).not.to.equal(posted[0]?.key);
    outbox.close();
  });

  it('does not send a message again that arrived under an old key', async () => {
    const posted: Envelope[] = [];
    const outbox = page.createOutbox({
      roomId: 'r2',
      localKey: await page.generateCipherKey(),
      seal: async (_: object, earlier?: Envelope) => (earlier ? 'arrived' : envelope(1)),
      post: async (sent: Envelope) => {
        posted.push(sent);
        setTimeout(() => outbox.hurry());
        throw new Error('no answer');
      },
      onRefused: () => {},
    });
    await outbox.add([{ kind: 'text', text: 'once' }]);
    while (outbox.pending.value.length > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(posted).to.have.length(1);
    outbox.close();
    expect(page.fateOf(envelope(1), 1, new Set())).to.equal('send');
    expect(page.fateOf(envelope(1), 2, new Set())).to.equal('seal');
    expect(page.fateOf(envelope(1), 2, new Set([page.placeOf(envelope(1))]))).to.equal('arrived');
  });

  it('holds messages while a change of the room key was refused', async () => {
    const posted: Envelope[] = [];
    const outbox = page.createOutbox({
      roomId: 'r3',
      localKey: await page.generateCipherKey(),
      seal: async ({ kind }: { kind: string }) => ({ ...envelope(1), chainId: kind }),
      post: async (sent: Envelope) => {
        posted.push(sent);
        if (posted.length === 1) throw new page.ApiError('refused', 400);
        return { message: { id: `m${posted.length}` } };
      },
      onRefused: () => {},
    });
    await outbox.add([{ kind: 'rotation' }, { kind: 'text', text: 'without Eve' }]);
    await outbox.flush();
    const until = async (done: () => boolean) => {
      while (!done()) await new Promise((resolve) => setTimeout(resolve, 5));
    };
    await until(() => outbox.pending.value[0]?.state === 'failed');
    await outbox.flush();
    expect(posted.map(({ chainId }) => chainId)).to.deep.equal(['rotation']);
    outbox.retry(outbox.pending.value[0]!.id);
    await until(() => outbox.pending.value[0]?.state === 'sent');
    await outbox.flush();
    expect(posted.map(({ chainId }) => chainId)).to.deep.equal(['rotation', 'rotation']);
    outbox.arrived(['m2']);
    await outbox.flush();
    await until(() => posted.length === 3);
    expect(posted[2]?.chainId).to.equal('text');
    outbox.close();
  });

  it('warns of a key that was exchanged between two loads', async () => {
    let secrets: Secrets = { verified: {} };
    const keyring = {
      secrets: {
        get value() {
          return secrets;
        },
      },
      change: async (update: (before: Secrets) => Secrets) => {
        secrets = update(secrets);
      },
    };
    const [first, second] = await Promise.all(
      [1, 2].map(async () => page.publicKeyOf(await page.generateSigningKeys())),
    );
    const load = async (signingPublicKey: object | undefined) => {
      const roster = page.createRoster('room', 'own', 'digest', keyring);
      await roster.update([{ id: 'bob', signingPublicKey }]);
      return roster;
    };
    expect((await load(first)).verificationOf('bob')).to.equal('none');
    expect((await load(first)).verificationOf('bob')).to.equal('none');
    const exchanged = await load(second);
    expect(exchanged.verificationOf('bob')).to.equal('changed');
    expect((await load(second)).verificationOf('bob')).to.equal('changed');
    await exchanged.setVerified('bob', true);
    expect(exchanged.verificationOf('bob')).to.equal('verified');
    await exchanged.setVerified('bob', false);
    expect(exchanged.verificationOf('bob')).to.equal('none');
    expect((await load(first)).verificationOf('bob')).to.equal('changed');
  });

  it('keeps ended rooms for a day, as the clock of a device may be ahead', async () => {
    const DAY_MS = 86_400_000;
    await page.rooms.put({ roomId: 'ended', expiresAt: 1000 });
    await page.rooms.put({ roomId: 'open', expiresAt: 3000 });
    await page.removeEnded(2000);
    expect(await page.rooms.get('ended')).to.include({ expiresAt: 1000 });
    expect((await page.openRooms(2000)).map(({ roomId }) => roomId)).to.deep.equal(['open']);
    await page.removeEnded(1000 + DAY_MS);
    expect(await page.rooms.get('ended')).to.equal(undefined);
    expect(await page.rooms.get('open')).to.include({ expiresAt: 3000 });
  });
});
