/** Audit replay: events in log order, decrypted and filtered. */
import { expect } from 'chai';
import { NoSuchStream, type ReplayFilter, replay } from '../../../application/audit/replay.js';
import type { RecordedEvent } from '../../../application/ports/index.js';
import { type MemoryKernel, memoryKernel, memoryWorld } from '../../support/memory-kernel.js';
import { box, context, toys } from '../../support/toy-service.js';

const games = { ...toys, service: 'games' };

describe('an audit replay', () => {
  let kernel: MemoryKernel;
  let all: readonly RecordedEvent[];

  beforeEach(async () => {
    kernel = memoryKernel(memoryWorld(), [toys, games]);
    for (const id of ['1', '2', '11']) await kernel.vault.create(`toys.box-${id}`);
    const put = (id: string, toy: string, more = {}) =>
      kernel.handle(box, `toys.box-${id}`, { box: id, toy, note: `on ${toy}` }, { ...context(), ...more });
    await put('1', 'bear', { actor: 'ada', correlationId: 'k1' });
    await put('2', 'car', { actor: 'bob', correlationId: 'k2' });
    await put('11', 'kite', { actor: 'bob', correlationId: 'k1' });
    await put('1', 'doll', { actor: 'bob', correlationId: 'k2' });
    await kernel.handle(box, 'toys.box-2', { box: '2', toy: '', erase: true }, context());
    all = (await Promise.all(['1', '2', '11'].map((id) => kernel.log.read(`toys.box-${id}`)))).flat() as never;
    all = all.toSorted((a, b) => Number(a.position - b.position));
  });

  const replayed = async (filter: Partial<ReplayFilter> = {}, catalogs = [toys]) => {
    const found: string[] = [];
    const options = { live: false, signal: new AbortController().signal };
    const pages = replay({ ...kernel, catalogs }, { services: ['toys'], ...filter }, options);
    for await (const page of pages)
      for (const { type, data } of page) {
        const { toy, secret } = data as { toy?: string; secret?: { note: string } };
        found.push(type === 'ToyPut' ? `${toy}: ${secret?.note}` : type);
      }
    return found;
  };
  const everything = ['bear: on bear', 'car: on car', 'kite: on kite', 'doll: on doll', 'NotesErased'];

  it('returns all events of a service in log order, decrypted while their keys exist', async () => {
    expect(await replayed()).to.deep.equal(everything);
    await kernel.vault.destroy('toys.box-2');
    expect((await replayed())[1]).to.equal('car: erased');
    expect(await replayed({ services: ['games'] })).to.deep.equal([]);
    expect(await replayed({}, [])).to.deep.equal([]);
  });

  it('filters by stream, type, actor and correlation id', async () => {
    expect(await replayed({ stream: 'toys.box-1' })).to.deep.equal(['bear: on bear', 'doll: on doll']);
    expect(await replayed({ types: ['NotesErased'] })).to.deep.equal(['NotesErased']);
    expect(await replayed({ types: ['NotesErased', 'ToyPut'] })).to.deep.equal(everything);
    expect(await replayed({ actor: 'bob' })).to.deep.equal(everything.slice(1, 4));
    expect(await replayed({ correlation: 'k1' })).to.deep.equal(['bear: on bear', 'kite: on kite']);
    expect(await replayed({ actor: 'bob', correlation: 'k2', stream: 'toys.box-1' })).to.deep.equal(['doll: on doll']);
  });

  it('filters by command, and by what the stream or the decrypted data names', async () => {
    const { commandId } = all[2]!.metadata;
    expect(await replayed({ command: commandId! })).to.deep.equal(['kite: on kite']);
    expect(await replayed({ subject: '1' })).to.deep.equal(['bear: on bear', 'doll: on doll']);
    expect(await replayed({ subject: 'kite' })).to.deep.equal(['kite: on kite']);
    expect(await replayed({ subject: 'on car' })).to.deep.equal(['car: on car']);
    expect(await replayed({ subject: 'on' })).to.deep.equal([]);
    await kernel.vault.destroy('toys.box-2');
    expect(await replayed({ subject: 'on car' })).to.deep.equal([]);
  });

  it('starts after a position or at a time and stops at a time', async () => {
    expect(await replayed({ after: all[1]!.position })).to.deep.equal(everything.slice(2));
    expect(await replayed({ stream: 'toys.box-1', after: all[0]!.position })).to.deep.equal(['doll: on doll']);
    const [from, to] = [all[1]!.recordedAt, all[3]!.recordedAt];
    expect(await replayed({ from })).to.deep.equal(everything.slice(1));
    expect(await replayed({ to })).to.deep.equal(everything.slice(0, 4));
    expect(await replayed({ from, to })).to.deep.equal(everything.slice(1, 4));
  });

  it('reports a stream that never existed or was deleted', async () => {
    const failure = async (stream: string) =>
      replayed({ stream }).then(
        () => undefined,
        (error: unknown) => error,
      );
    expect(await failure('toys.box-9'))
      .to.be.instanceOf(NoSuchStream)
      .and.include({ found: 'missing' });
    await kernel.log.tombstone('toys.box-1');
    const ended = await failure('toys.box-1');
    expect(ended).to.be.instanceOf(NoSuchStream).and.include({ found: 'deleted', stream: 'toys.box-1' });
    expect(String(ended)).to.include('toys.box-1 is deleted');
  });

  for (const stream of [undefined, 'toys.box-1'])
    it(`continues live with new events of ${stream ?? 'the service'} until it is stopped`, async () => {
      const stop = new AbortController();
      const filter = { services: ['toys'], ...(stream === undefined ? {} : { stream }) };
      const live = replay({ ...kernel, catalogs: [toys] }, filter, { live: true, signal: stop.signal });
      const before = stream === undefined ? all.length : 2;
      for (let count = 0; count < before; ) count += (await live.next()).value?.length ?? 0;
      const next = live.next();
      await kernel.handle(box, 'toys.box-1', { box: '1', toy: 'late' }, context());
      expect((await next).value?.[0]).to.deep.include({ stream: 'toys.box-1', type: 'ToyPut' });
      stop.abort();
      expect((await live.next()).done).to.equal(true);
    });
});
