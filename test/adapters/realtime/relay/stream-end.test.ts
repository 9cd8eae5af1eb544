/** Events with several frames, events that end streams of several keys, and events that erase earlier frames. */
import { expect } from 'chai';
import { createRelay } from '../../../../adapters/realtime/relay/relay.js';
import type { Audience } from '../../../../application/subscription/audience.js';
import type { DomainEvent } from '../../../../domain/shared/decider.js';
import { at, head, record, types, wrote } from '../../../support/toy-service.js';

type Thing =
  | DomainEvent<'Note', { to: readonly string[]; about?: string; also?: string }>
  | DomainEvent<'Over', { to: readonly string[]; code?: number }>
  | DomainEvent<'Erased', { about: string }>
  | DomainEvent<'Nothing'>;

const audience: Audience<null, Thing> = {
  initialState: null,
  on: {
    Note: {
      deliver: ({ type, data: { to, about: resource, also } }) => [
        { to, message: { type }, ...(resource !== undefined && { resource }) },
        ...(also === undefined ? [] : [{ to, message: { type: 'Also' }, resource: also }]),
      ],
    },
    Over: {
      deliver: ({ type, data: { to, code } }) => [
        { to, message: { type }, ends: true, ...(code !== undefined && { endCode: code }) },
      ],
    },
    Erased: {
      deliver: ({ type, data: { about: resource } }) => [
        { to: ['room'], message: { type }, resource, erases: resource },
      ],
    },
    Nothing: {},
  },
};

describe('an event of the relay', () => {
  let relay: ReturnType<typeof begin>;
  let position: number;
  const begin = () => createRelay({ audience, head });
  const publish = (...events: readonly Thing[]) => {
    for (const event of events) relay.publish({ ...at(++position, wrote('')), ...event } as never);
  };
  beforeEach(() => {
    relay = begin();
    position = 0;
  });
  afterEach(() => relay.close());

  it('ends the streams of all its keys with its code', () => {
    const clients = ['one', 'two', 'other'].map((key) => {
      const codes: unknown[] = [];
      const client = record();
      const { end } = client;
      client.end = (how, code) => {
        codes.push(code);
        end(how);
      };
      relay.connect({ keys: [key] }, client);
      return { client, codes };
    });
    publish({ type: 'Over', data: { to: ['one', 'two'], code: 4003 } });
    expect(clients.map(({ client, codes }) => [types(client), client.ended, codes])).to.deep.equal([
      [['Over'], 'over', [4003]],
      [['Over'], 'over', [4003]],
      [[], undefined, []],
    ]);
  });

  it('ends a stream with several matching keys once', () => {
    const client = record();
    relay.connect({ keys: ['one', 'two'] }, client);
    publish({ type: 'Over', data: { to: ['one', 'two'] } });
    expect([types(client), client.ended]).to.deep.equal([['Over'], 'over']);
  });

  it('that ends some streams does not affect others with the same frame', () => {
    publish({ type: 'Note', data: { to: ['one', 'other'] } }, { type: 'Note', data: { to: ['one'] } });
    publish({ type: 'Over', data: { to: ['one'] } });
    const [gone, stays] = [record(), record()];
    relay.connect({ keys: ['other'], after: 0n }, stays);
    relay.connect({ keys: ['one'], after: 1n }, gone);
    expect([types(stays), types(gone)]).to.deep.equal([['Note'], []]);
  });

  it("that erases a subject removes that part of an event's frames and keeps the rest", () => {
    publish({ type: 'Note', data: { to: ['room'], about: 'kept', also: 'secret' } });
    publish({ type: 'Erased', data: { about: 'secret' } });
    const client = record();
    relay.connect({ keys: ['room'], after: 0n }, client);
    expect(client.sent).to.deep.equal([
      { message: { type: 'Note' }, position: 1n },
      { message: { type: 'Erased' }, position: 2n },
    ]);
  });

  it('that is redelivered is not buffered twice, and one without frames advances the position', () => {
    publish({ type: 'Note', data: { to: ['room'] } });
    const bytesBefore = relay.bufferedBytes();
    position = 0;
    publish({ type: 'Note', data: { to: ['room'] } });
    expect(relay.bufferedBytes()).to.equal(bytesBefore);
    publish({ type: 'Nothing', data: {} });
    expect([relay.bufferedBytes(), relay.position()]).to.deep.equal([bytesBefore, 2n]);
    const client = record();
    relay.connect({ keys: ['room'] }, client);
    expect(client.cursor()).to.equal(2n);
  });

  it('is delivered live as judged then: only missed frames are judged again', () => {
    const [live, back] = [record(), record()];
    const entitled = () => false;
    relay.connect({ keys: ['room'], entitled }, live);
    publish({ type: 'Note', data: { to: ['room'] } });
    relay.connect({ keys: ['room'], entitled, after: 0n }, back);
    expect([types(live), types(back)]).to.deep.equal([['Note'], []]);
  });
});
