/** Decryption of events: what can never be decrypted counts as erased and is reported once, an outage is not. */
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

describe('decryption of events', () => {
  const BROKEN = new UndecryptableError('toys.box-1', 'abc');
  /** A vault that gives the same answer to every call, and records the calls. */
  function fixture(answer: () => Promise<object | undefined>) {
    const calls: string[][] = [];
    const reports: Parameters<OnUndecryptable>[] = [];
    const one = (...args: string[]) => {
      calls.push(args);
      return answer();
    };
    const vault = { open: one, openBytes: one, seal: one, sealBytes: one, digester: one };
    const report: OnUndecryptable = (...args) => void reports.push(args);
    return { calls, reports, report, vault: vault as unknown as CachingVault };
  }
  const put = (data: object, type = 'ToyPut') => eventAt(1n, type, { box: '1', toy: 'bear', ...data });
  const decryptEvent = async (event: RecordedEvent, answer: Parameters<typeof fixture>[0]) => {
    const { vault, calls, reports, report } = fixture(answer);
    const { data, erased } = await createEventDecryptor(vault, report)(toys, event);
    return { secret: (data as { secret?: unknown }).secret, erased, calls, reports };
  };

  it('uses the key of the subject', async () => {
    const found = await decryptEvent(put({ secret: 'xyz' }), async () => ({ note: 'hello' }));
    expect(found).to.deep.include({ secret: { note: 'hello' }, erased: false, reports: [] });
    // Without the hint that it is decrypted only once.
    expect(found.calls).to.deep.equal([['toys.box-1', 'xyz', undefined]]);
  });

  it('passes on the hint that the event is decrypted only once', async () => {
    const { vault, calls, report } = fixture(async () => ({ note: 'hello' }));
    await createEventDecryptor(vault, report, { once: true })(toys, put({ secret: 'xyz' }));
    expect(calls).to.deep.equal([['toys.box-1', 'xyz', true]]);
  });

  it('treats a destroyed key as erased, without a report', async () => {
    const found = await decryptEvent(put({ secret: 'xyz' }), async () => undefined);
    expect(found).to.deep.include({ secret: { note: 'erased' }, erased: true, reports: [] });
  });

  it('treats undecryptable content as erased, and reports it', async () => {
    const event = put({ secret: 'xyz' });
    const found = await decryptEvent(event, () => Promise.reject(BROKEN));
    expect(found).to.deep.include({ secret: { note: 'erased' }, erased: true, reports: [[BROKEN, event]] });
  });

  it('fails as unavailable when the key cannot be read now', async () => {
    const away = new UnavailableError('away');
    expect(await failure(decryptEvent(put({ secret: 'xyz' }), () => Promise.reject(away)))).to.equal(away);
  });

  it('applies to the secret of the catalog only, not to other fields of that name', async () => {
    const clear = await decryptEvent(put({ secret: 'mine' }, 'NotesErased'), () => expect.fail());
    expect(clear).to.deep.include({ secret: 'mine', erased: false });
    const none = await decryptEvent(put({}), () => expect.fail());
    expect(none).to.deep.include({ secret: undefined, erased: false });
  });

  it('makes every vault method return undefined for undecryptable content', async () => {
    const { vault, reports, report } = fixture(() => Promise.reject(BROKEN));
    const away = treatAsErased(fixture(() => Promise.reject(new UnavailableError('away'))).vault, report);
    const ways = (of: CachingVault) => [
      () => of.open('a', 'b'),
      () => of.openBytes('a', Buffer.of()),
      () => of.seal('a', {}),
      () => of.sealBytes('a', Buffer.of()),
      () => of.digester('a', 'b'),
    ];
    for (const way of ways(treatAsErased(vault, report))) expect(await way()).to.equal(undefined);
    expect(reports.map(([error]) => error)).to.deep.equal(Array(5).fill(BROKEN));
    for (const way of ways(away)) expect(await failure(way())).to.be.instanceOf(UnavailableError);
    expect(reports).to.have.length(5);
  });

  it('counts each undecryptable secret, and logs one line per subject', () => {
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

  it('bounds the number of counted secrets', () => {
    const { onUndecryptable, count } = createUndecryptableCounter({ error: () => {} } as never, () => {});
    for (let nth = 0; nth < 20_000; nth++) onUndecryptable(new UndecryptableError('toys.box-1', String(nth)));
    expect(count()).to.equal(10_000);
  });
});
