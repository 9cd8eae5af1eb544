/** A returning client gets the missed frames, or RESET if there are too many. */
import { expect } from 'chai';
import { createRelay } from '../../../../adapters/realtime/relay/relay.js';
import {
  at,
  connectAs,
  entered,
  head,
  left,
  record,
  relayWith,
  types,
  wardAudience,
  wrote,
} from '../../../support/toy-service.js';

describe('a returning client', () => {
  it('gets a greeting from which it can resume at once', () => {
    const { relay, publish } = relayWith([entered('ann')]);
    const first = record();
    relay.connect({ ...connectAs('ann'), greeting: { type: 'CONNECTED' } }, first);
    expect(first.sent).to.deep.equal([{ message: { type: 'CONNECTED' }, position: 1n }]);
    first.leave();
    publish(wrote('missed'));
    const second = record();
    relay.connect({ ...connectAs('ann'), after: first.cursor()!, greeting: { type: 'CONNECTED' } }, second);
    expect(types(second)).to.deep.equal(['CONNECTED', 'Wrote']);
    expect(second.sent[0]).not.to.have.property('position');
    relay.close();
  });

  it('gets one RESET when it was away longer than the buffer reaches', () => {
    const { relay, publish } = relayWith([entered('ann')], 3);
    publish(wrote('1'), wrote('2'), wrote('3'), wrote('4'));
    const late = record();
    relay.connect({ ...connectAs('ann'), after: 1n }, late);
    expect(late.sent).to.deep.equal([{ message: { type: 'RESET' }, position: 5n }]);
    const inTime = record();
    relay.connect({ ...connectAs('ann'), after: 2n }, inTime);
    expect(types(inTime)).to.deep.equal(['Wrote', 'Wrote', 'Wrote']);
    relay.close();
  });

  it('gets RESET for cursors from before the start and for unknown ones', () => {
    const relay = createRelay({ audience: wardAudience, head, from: 100n });
    relay.publish(at(101, entered('ann')));
    for (const after of [-1n, 0n, 99n]) {
      const client = record();
      relay.connect({ ...connectAs('ann'), after }, client);
      expect(types(client)).to.deep.equal(['RESET']);
    }
    const client = record();
    relay.connect({ ...connectAs('ann'), after: 100n }, client);
    expect(types(client)).to.deep.equal(['Ward', 'Entered']);
    relay.close();
  });

  it('gets missed frames at its reading pace, then new ones', () => {
    const { relay, publish } = relayWith([entered('ann')]);
    const texts = Array.from({ length: 300 }, (_, index) => `${index} ${'x'.repeat(10_000)}`);
    publish(...texts.map((text) => wrote(text)));
    const slow = record();
    slow.reading = false;
    relay.connect({ ...connectAs('ann'), after: 1n }, slow);
    for (let round = 0; slow.sent.length < 310; round++) {
      expect(slow.unread).to.be.within(1, 128 * 1024);
      if (round < 10) publish(wrote(`new ${round}`));
      slow.read();
    }
    expect(slow.sent.map(({ message: { payload } }) => (payload as { text: string }).text)).to.deep.equal([
      ...texts,
      ...Array.from({ length: 10 }, (_, round) => `new ${round}`),
    ]);
    expect(slow.ended).to.equal(undefined);
    relay.close();
  });

  it('gets only frames it may still see, among missed and delayed ones', () => {
    const { relay, publish } = relayWith([entered('ann')]);
    const seesWard: NonNullable<Parameters<typeof relay.connect>[0]['entitled']> = ({ message }, { w = [] }) =>
      message.type !== 'Wrote' || w.includes('ann');
    const entitled = { ...connectAs('ann'), entitled: seesWard };
    const [quick, slow] = [record(), record()];
    relay.connect(entitled, quick);
    relay.connect(entitled, slow);
    slow.reading = false;
    publish(wrote('x'.repeat(70_000)), wrote('waits'), left('ann'), wrote('is not for ann'), entered('ann'));
    publish(wrote('again'), left('ann'));
    slow.read();
    expect(types(quick)).to.deep.equal(['Wrote', 'Wrote', 'Left', 'Ward', 'Entered', 'Wrote', 'Left']);
    expect(types(slow)).to.deep.equal(['Wrote', 'Left', 'Ward', 'Entered', 'Left']);
    const late = record();
    relay.connect({ ...entitled, after: 1n }, late);
    expect(types(late)).to.deep.equal(['Left', 'Ward', 'Entered', 'Left']);
    relay.close();
  });

  it('is buffered a few megabytes at most, however large the frames', () => {
    const { relay, publish } = relayWith([entered('ann')]);
    for (let index = 0; index < 3000; index++) publish(wrote(`${index} ${'x'.repeat(30_000)}`));
    expect(relay.bufferedBytes()).to.be.within(4 * 1024 * 1024, 8 * 1024 * 1024);
    const [late, inTime] = [record(), record()];
    relay.connect({ ...connectAs('ann'), after: 10n }, late);
    expect(late.sent).to.deep.equal([{ message: { type: 'RESET' }, position: 3001n }]);
    relay.connect({ ...connectAs('ann'), after: 2990n }, inTime);
    expect(types(inTime)).to.deep.equal(Array.from({ length: 11 }, () => 'Wrote'));
    relay.close();
  });

  it('gets one RESET for a cursor ahead of the log, as after a restored backup', async () => {
    const relay = createRelay({ audience: wardAudience, head: async () => 5n });
    relay.publish(at(5, entered('ann')));
    const client = record();
    const wasReset = new Promise<void>((resolve) => {
      const { send } = client;
      client.send = (each) => {
        send(each);
        if (each.json.includes('RESET')) resolve();
      };
    });
    relay.connect({ ...connectAs('ann'), after: 90n }, client);
    await wasReset;
    relay.publish(at(6, wrote('new')));
    expect(types(client)).to.deep.equal(['RESET', 'Wrote']);
    expect(client.cursor()).to.equal(6n);
    relay.close();
  });

  it('needs no RESET for a cursor ahead of this node but within the log', async () => {
    let ends = 3n;
    let known = () => {};
    const headRead = new Promise<void>((resolve) => {
      known = resolve;
    });
    const relay = createRelay({ audience: wardAudience, head: () => headRead.then(() => ends) });
    relay.publish(at(1, entered('ann')));
    const [client, later] = [record(), record()];
    relay.connect({ ...connectAs('ann'), after: 3n }, client);
    // The node has advanced since the answer about the log's end.
    relay.connect({ ...connectAs('ann'), after: 4n }, later);
    for (let position = 2; position <= 5; position++) relay.publish(at(position, wrote('here')));
    known();
    await new Promise(setImmediate);
    ends = 9n;
    expect(client.sent.map(({ position }) => position)).to.deep.equal([4n, 5n]);
    expect(later.sent.map(({ position }) => position)).to.deep.equal([5n]);
    const last = record();
    relay.connect({ ...connectAs('ann'), after: 9n }, last);
    await new Promise(setImmediate);
    expect(types(last)).to.deep.equal([]);
    relay.close();
  });

  it('may ask again when the end of the log is unknown', async () => {
    const relay = createRelay({ audience: wardAudience, head: () => Promise.reject(new Error('away')) });
    const client = record();
    const over = new Promise<void>((resolve) => client.onClose(resolve));
    relay.connect({ ...connectAs('ann'), after: 90n }, client);
    await over;
    expect([client.ended, client.sent]).to.deep.equal(['resume', []]);
    relay.close();
  });

  it('does not get missed frames it may no longer see', () => {
    const { relay, publish } = relayWith([entered('ann')]);
    publish(wrote('before'), left('ann'));
    const client = record();
    relay.connect(
      {
        ...connectAs('ann'),
        after: 1n,
        entitled: ({ message }, now) => message.type !== 'Wrote' || !!now.w?.includes('ann'),
      },
      client,
    );
    expect(types(client)).to.deep.equal(['Left']);
    relay.close();
  });

  it('gets nothing twice that it has received from another node', async () => {
    const { relay, publish } = relayWith([entered('ann')]);
    const ahead = record();
    relay.connect({ ...connectAs('ann'), after: 3n, greeting: { type: 'CONNECTED' } }, ahead);
    publish(wrote('seen'), wrote('seen too'), wrote('new'));
    expect(ahead.sent.map(({ position }) => position)).to.deep.equal([3n, 4n]);
    await new Promise(setImmediate);
    expect(types(ahead)).to.deep.equal(['CONNECTED', 'Wrote']);
    relay.close();
  });
});
