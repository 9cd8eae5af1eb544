/** Types of events: the line below each `@ts-expect-error` must not compile. */
import { expect } from 'chai';
import type { Relay } from '../../adapters/realtime/relay/relay.js';
import type { Aggregate } from '../../application/command/aggregate.js';
import { isEvent } from '../../application/command/event-envelope.js';
import type { RecordedEvent, RevealedEvent } from '../../application/ports/index.js';
import { type Audience, routeEvent } from '../../application/subscription/audience.js';
import type { LiveEvent } from '../../application/subscription/live-feed.js';
import type { Reaction } from '../../application/subscription/reaction-runner.js';
import type { Service } from '../../bin/node/service.js';

import {
  type Catalog,
  type Decider,
  type Erasing,
  type EventHandlers,
  type EventOf,
  type Evolve,
  event,
  evolveOf,
  handlerFor,
  type Sealed,
} from '../../domain/shared/decider.js';
import { object } from '../../domain/shared/schema.js';
import type { Projection } from '../../projections/kernel/projection.js';
import { eventAt } from '../support/memory-ports.js';

const text = { type: 'string' } as const;
const count = { type: 'integer', minimum: 0 } as const;
const roomOf = ({ room }: { readonly room: string }) => `zoo.room-${room}`;

const zoo = {
  service: 'zoo',
  events: {
    Arrived: event(object({ room: text, legs: count, secret: object({ name: text }) }), {
      sealed: { subject: roomOf, erased: { name: null } },
      before: [{ schema: object({ room: text }), upcast: (old) => [old] }],
    }),
    Filmed: event(object({ room: text, secret: object({ film: text }) }), {
      sealed: { subject: roomOf, erased: { film: '' }, large: true },
    }),
    Closed: event(object({ room: text }), { erases: roomOf }),
  },
} as const satisfies Catalog;

type Zoo = typeof zoo;
type ZooEvent = EventOf<Zoo>;
type Arrived = EventOf<Zoo, 'Arrived'>;
type Filmed = EventOf<Zoo, 'Filmed'>;

/** Compiles where the two are the same type. */
const same = <A, B>(..._: [A] extends [B] ? ([B] extends [A] ? [] : [never]) : [never]) => {};

describe('types of a defined event', () => {
  it('have the name and data of the newest version, with the secret decrypted or erased', () => {
    same<ZooEvent['type'], 'Arrived' | 'Filmed' | 'Closed'>();
    same<Arrived['data']['legs'], number>();
    same<Arrived['data']['secret'], { readonly name: string } | { readonly name: null }>();
    same<Filmed['data']['secret']['film'], string>();
    // @ts-expect-error
    same<Arrived['data']['secret']['name'], string>();
    // @ts-expect-error
    same<EventOf<Zoo, 'Arived'>, never>();
    expect(zoo.events.Arrived.versions.map(({ schema }) => schema.required)).to.deep.equal([
      ['room'],
      ['room', 'legs', 'secret'],
    ]);
  });

  it('have an encrypted secret in the log', () => {
    same<Sealed<Arrived>['data']['secret'], string>();
    same<Sealed<Arrived>['data']['legs'], number>();
    same<RecordedEvent<Filmed>['data']['secret'], string>();
    same<RevealedEvent<Filmed>['data']['secret'], Filmed['data']['secret']>();
    same<Sealed<EventOf<Zoo, 'Closed'>>, EventOf<Zoo, 'Closed'>>();
  });

  it('require an encryption subject from unencrypted data', () => {
    // @ts-expect-error
    event(object({ cage: text, secret: text }), { sealed: { subject: roomOf, erased: {} } });
    // @ts-expect-error
    event(object({ cage: text }), { erases: roomOf });
    // @ts-expect-error
    event(object({ secret: text }), { erases: ({ secret }) => secret });
    const { erases } = event(object({ cage: text, secret: text }), { erases: ({ cage }) => `zoo.${cage}` });
    expect(erases({ cage: '1' })).to.equal('zoo.1');
  });

  it('identify events that erase a key', () => {
    same<Erasing<Zoo>, 'Closed'>();
  });
});

describe('handlers by event name', () => {
  const on: EventHandlers<RecordedEvent<ZooEvent>, string> = {
    Arrived: ({ data }) => `${data.legs} legs`,
    Filmed: ({ data }) => data.secret,
    Closed: ({ data }) => data.room,
  };

  it('are required for each event, and for no other', () => {
    // @ts-expect-error
    const forgotten: EventHandlers<RecordedEvent<ZooEvent>, string> = {
      Arrived: on.Arrived,
      Filmed: on.Filmed,
    };
    // @ts-expect-error
    const misspelt: EventHandlers<RecordedEvent<ZooEvent>, string> = { ...on, Close: on.Closed };
    const another: EventHandlers<RecordedEvent<ZooEvent>, string> = {
      ...on,
      // @ts-expect-error
      Closed: ({ data }) => data.legs,
    };
    expect([forgotten, misspelt, another]).to.have.length(3);
  });

  it('are found by the name of an event, if there is one', () => {
    const handledBy = (type: string) => {
      const event: RecordedEvent = eventAt(1n, type, { room: '7' });
      return handlerFor(on, event)?.(event);
    };
    expect(['Closed', 'Opened', 'toString'].map(handledBy)).to.deep.equal(['7', undefined, undefined]);
  });

  it('of a projection cover every event of its type', () => {
    const named = { name: 'zoo.rooms', version: 1, indexes: [] };
    const all: Projection<ZooEvent> = {
      ...named,
      on: { Arrived: () => [], Filmed: () => [], Closed: ({ data }) => [{ remove: data.room }] },
    };
    // @ts-expect-error
    const forgotten: Projection<ZooEvent> = { ...named, on: { Arrived: () => [], Filmed: () => [] } };
    // @ts-expect-error
    const misspelt: Projection<Filmed> = { ...named, on: { Filmd: () => [] } };
    const opened: Projection<Filmed> = {
      ...named,
      // @ts-expect-error
      on: { Filmed: ({ data }) => [{ put: data.secret.film, update: {} }] },
    };
    expect([all, forgotten, misspelt, opened]).to.have.length(4);
  });

  it('of a reaction cover the events it follows', () => {
    const react: Reaction<Filmed> = { name: 'zoo.show', on: { Filmed: async () => {} } };
    // @ts-expect-error
    const misspelt: Reaction<Filmed> = { name: 'zoo.show', on: { Filmd: async () => {} } };
    expect([react, misspelt]).to.have.length(2);
  });

  it('of an audience cover every event of its service', () => {
    const audience: Audience<number, ZooEvent> = {
      initialState: 0,
      on: { Arrived: { evolve: (legs, { data }) => legs + data.legs }, Filmed: {}, Closed: {} },
    };
    // @ts-expect-error
    const forgotten: Audience<number, ZooEvent> = { initialState: 0, on: { Arrived: {}, Filmed: {} } };
    const arrived = { ...eventAt(1n, 'Arrived', { room: '1', legs: 4 }), erased: false };
    const routed = routeEvent(audience, 3, arrived);
    expect([routed.state, routed.deliveries, forgotten]).to.have.length(3);
    expect(routed).to.deep.equal({ state: 7, deliveries: [] });
    expect(routeEvent(audience, 3, { ...arrived, type: 'OfTomorrow' }).state).to.equal(3);
  });
});

describe('evolve functions of events', () => {
  const evolve: Evolve<number, ZooEvent> = {
    Arrived: (legs, { legs: more }) => legs + more,
    Filmed: (legs) => legs,
    Closed: () => 0,
  };
  const decider: Decider<number, never, ZooEvent> = { initialState: 0, decide: () => [], evolve };

  it('are required for each event of a decider', () => {
    // @ts-expect-error
    const forgotten: Evolve<number, ZooEvent> = { Arrived: evolve.Arrived, Filmed: evolve.Filmed };
    // @ts-expect-error
    const misspelt: Evolve<number, ZooEvent> = { ...evolve, Close: evolve.Closed };
    const another: Evolve<number, ZooEvent> = {
      ...evolve,
      // @ts-expect-error
      Closed: (_, { legs }) => legs,
    };
    const decided: Decider<number, never, Filmed> = {
      ...decider,
      // @ts-expect-error
      decide: () => [{ type: 'Closed', data: { room: '1' } }],
    };
    expect([forgotten, misspelt, another, decided]).to.have.length(4);
  });

  it('require a catalog that has their events', () => {
    const kind: Aggregate<number, never, ZooEvent> = { catalog: zoo, decider };
    const { Arrived, Filmed } = zoo.events;
    const other: Aggregate<number, never, ZooEvent> = {
      ...kind,
      // @ts-expect-error
      catalog: { ...zoo, events: { Arrived, Filmed } },
    };
    expect([kind, other]).to.have.length(2);
  });

  it('leave the state unchanged for unknown events', () => {
    const unknown = { type: 'OfTomorrow', data: {} } as never;
    const arrived: Arrived = { type: 'Arrived', data: { room: '1', legs: 4, secret: { name: null } } };
    expect([arrived, unknown, arrived].reduce(evolveOf(decider), 0)).to.equal(8);
  });

  it('read decrypted data only where their type has it', () => {
    const ignoring: Evolve<number, Arrived | Sealed<Arrived>> = { Arrived: (legs) => legs };
    const reading: Evolve<number, Arrived | Sealed<Arrived>> = {
      // @ts-expect-error
      Arrived: (_, { secret }) => secret.name?.length ?? 0,
    };
    expect([ignoring, reading]).to.have.length(2);
  });
});

describe('types of an event from the log', () => {
  it('are narrowed by its name', () => {
    const found: RecordedEvent = eventAt(1n, 'Filmed', { room: '1', secret: 'sealed' });
    // @ts-expect-error
    const never = isEvent<Filmed>('Filmd', found);
    const secret: string | undefined = isEvent<Filmed>('Filmed', found) ? found.data.secret : undefined;
    expect([never, secret]).to.deep.equal([false, 'sealed']);
  });

  it('are decrypted in the live feed, except those of large events', () => {
    const erasedOf = (live: LiveEvent<Zoo>) => {
      if (live.type === 'Filmed') {
        same<typeof live, RecordedEvent<Filmed>>();
        // @ts-expect-error
        return live.erased;
      }
      return live.type === 'Arrived' && live.erased;
    };
    const erasedOfAny = (live: LiveEvent) => {
      // @ts-expect-error
      return live.erased;
    };
    expect([erasedOf, erasedOfAny]).to.have.length(2);
  });

  it('are rejected by the relay while encrypted', () => {
    const relay = { publish() {} } as unknown as Relay<number, ZooEvent>;
    const handler: Awaited<ReturnType<Service<Zoo>['connect']>>['handlers'][number] = (live) => {
      // @ts-expect-error
      relay.publish(live);
      if (live.type !== 'Filmed') relay.publish(live);
    };
    expect(handler).to.be.a('function');
  });
});
