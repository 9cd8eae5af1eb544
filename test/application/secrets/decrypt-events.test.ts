/** What nobody can open any more is shown as erased and told of once; what can get better is not taken for that. */
import { expect } from 'chai';
import { type RecordedEvent, UnavailableError, UndecryptableError } from '../../../application/ports/index.js';
import {
  createEventDecryptor,
  createUndecryptableCounter,
  type OnUndecryptable,
  treatAsErased,
} from '../../../application/secrets/decrypt-events.js';
import type { CachingVault } from '../../../application/secrets/vault.js';
import { failure } from '../../support/memory-ingest.js';
import { eventAt } from '../../support/memory-ports.js';
import { toys } from '../../support/toy-service.js';

describe('what is sealed', () => {
  const BROKEN = new UndecryptableError('toys.box-1', 'abc');
  /** A vault that answers everything in one way, and what it was asked to open. */
  function fixture(answer: () => Promise<object | undefined>) {
    const asked: string[][] = [];
    const told: Parameters<OnUndecryptable>[] = [];
    const one = (...given: string[]) => {
      asked.push(given);
      return answer();
    };
    const vault = { open: one, openBytes: one, seal: one, sealBytes: one, digester: one };
    const tell: OnUndecryptable = (...given) => void told.push(given);
    return { asked, told, tell, vault: vault as unknown as CachingVault };
  }
  const put = (data: object, type = 'ToyPut') => eventAt(1n, type, { box: '1', toy: 'bear', ...data });
  const decryptEvent = async (event: RecordedEvent, answer: Parameters<typeof fixture>[0]) => {
    const { vault, asked, told, tell } = fixture(answer);
    const { data, erased } = await createEventDecryptor(vault, tell)(toys, event);
    return { secret: (data as { secret?: unknown }).secret, erased, asked, told };
  };

  it('is opened with the key of its subject', async () => {
    const found = await decryptEvent(put({ secret: 'xyz' }), async () => ({ note: 'hello' }));
    expect(found).to.deep.include({ secret: { note: 'hello' }, erased: false, told: [] });
    // Not said to be opened but once.
    expect(found.asked).to.deep.equal([['toys.box-1', 'xyz', undefined]]);
  });

  it('is opened but once for who goes through the log but once', async () => {
    const { vault, asked, tell } = fixture(async () => ({ note: 'hello' }));
    await createEventDecryptor(vault, tell, { once: true })(toys, put({ secret: 'xyz' }));
    expect(asked).to.deep.equal([['toys.box-1', 'xyz', true]]);
  });

  it('is shown as erased when its key is destroyed, which is nothing to tell', async () => {
    const found = await decryptEvent(put({ secret: 'xyz' }), async () => undefined);
    expect(found).to.deep.include({ secret: { note: 'erased' }, erased: true, told: [] });
  });

  it('is shown as erased and told of when it can never be opened', async () => {
    const event = put({ secret: 'xyz' });
    const found = await decryptEvent(event, () => Promise.reject(BROKEN));
    expect(found).to.deep.include({ secret: { note: 'erased' }, erased: true, told: [[BROKEN, event]] });
  });

  it('is waited for when its key can not be had now', async () => {
    const away = new UnavailableError('away');
    expect(await failure(decryptEvent(put({ secret: 'xyz' }), () => Promise.reject(away)))).to.equal(away);
  });

  it('is what the catalog says, and no other text of that name', async () => {
    const clear = await decryptEvent(put({ secret: 'mine' }, 'NotesErased'), () => expect.fail());
    expect(clear).to.deep.include({ secret: 'mine', erased: false });
    const none = await decryptEvent(put({}), () => expect.fail());
    expect(none).to.deep.include({ secret: undefined, erased: false });
  });

  it('is nothing in every way of asking a vault, once nobody can open it', async () => {
    const { vault, told, tell } = fixture(() => Promise.reject(BROKEN));
    const away = treatAsErased(fixture(() => Promise.reject(new UnavailableError('away'))).vault, tell);
    const ways = (of: CachingVault) => [
      () => of.open('a', 'b'),
      () => of.openBytes('a', Buffer.of()),
      () => of.seal('a', {}),
      () => of.sealBytes('a', Buffer.of()),
      () => of.digester('a', 'b'),
    ];
    for (const way of ways(treatAsErased(vault, tell))) expect(await way()).to.equal(undefined);
    expect(told.map(([error]) => error)).to.deep.equal(Array(5).fill(BROKEN));
    for (const way of ways(away)) expect(await failure(way())).to.be.instanceOf(UnavailableError);
    expect(told).to.have.length(5);
  });

  it('and can not be opened is counted once each, with one line a subject', () => {
    const lines: object[] = [];
    let counted = 0;
    const logger = { error: (fields: object) => void lines.push(fields) } as never;
    const { onUndecryptable, count } = createUndecryptableCounter(logger, () => counted++);
    const event = put({});
    onUndecryptable(BROKEN, event);
    onUndecryptable(new UndecryptableError('toys.box-1', 'abc'));
    onUndecryptable(new UndecryptableError('toys.box-1', 'def'));
    onUndecryptable(new UndecryptableError('toys.box-2', 'abc'));
    expect([count(), counted]).to.deep.equal([3, 3]);
    expect(lines).to.have.length(2);
    const where = { event: event.id, stream: event.stream, position: '1' };
    expect(lines[0]).to.deep.include({ subject: 'toys.box-1', ...where });
    expect(lines[1]).to.deep.include({ subject: 'toys.box-2' }).and.not.have.property('event');
  });

  it('and can not be opened is not counted without end', () => {
    const { onUndecryptable, count } = createUndecryptableCounter({ error: () => {} } as never, () => {});
    for (let nth = 0; nth < 20_000; nth++) onUndecryptable(new UndecryptableError('toys.box-1', String(nth)));
    expect(count()).to.equal(10_000);
  });
});
