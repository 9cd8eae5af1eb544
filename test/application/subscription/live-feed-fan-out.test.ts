/** Fan-out of the live feed over a scripted log: which handlers get which events, and what it waits for. */
import { eventually } from '@annals/engines/testing/condition.js';
import { silentLogger } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { type DecryptEvent, type RecordedEvent, UnavailableError } from '../../../application/ports/index.js';
import type { WindowStart } from '../../../application/subscription/live-feed.js';
import { type EventHandler, type LiveEvent, runLiveFeed } from '../../../application/subscription/live-feed.js';
import type { Catalog } from '../../../domain/shared/decider.js';
import { memoryKernel, memoryWorld } from '../../support/memory-kernel.js';
import { eventAt, feed } from '../../support/memory-ports.js';
import { toys } from '../../support/toy-service.js';

const large: Catalog = {
  service: 'games',
  events: {
    GamePut: {
      versions: [{ schema: {} }],
      sealed: { subject: () => 'games.box-1', erased: {}, large: true },
    },
  },
};

const table = (...handlers: readonly EventHandler[]) =>
  new Map(['toys', 'games'].map((service) => [service, handlers]));

describe('the live feed over a scripted log', () => {
  let stop: AbortController;
  let running: Promise<void>[];
  beforeEach(() => {
    [stop, running] = [new AbortController(), []];
  });
  afterEach(async () => {
    stop.abort();
    await Promise.all(running);
  });

  function fixture(more: Partial<Parameters<typeof runLiveFeed>[0]> = {}) {
    const log = feed();
    const kernel = memoryKernel(memoryWorld(), [toys]);
    const [delivered, switched, decrypted]: [LiveEvent[], RecordedEvent[], string[]] = [[], [], []];
    const it = { away: false };
    const decryptEvent: DecryptEvent = async (_, event) => {
      decrypted.push(event.type);
      if (it.away) throw new UnavailableError('the keys are away');
      return { ...event, erased: false } as never;
    };
    const start = () => {
      const one = runLiveFeed({
        ...kernel,
        follow: log.follow,
        catalogs: [toys, large],
        windows: new Map(['toys', 'games'].map((service) => [service, { horizon: 0n, from: 0n }])),
        begun: 0n,
        saved: { save: async () => {} },
        decryptEvent,
        decryptLiveEvent: decryptEvent,
        subscriptions: table((event) => void delivered.push(event)),
        switched: (event) => void switched.push(event),
        logger: silentLogger,
        signal: stop.signal,
        ...more,
      });
      running.push(one.stopped);
      return one;
    };
    return { log, kernel, delivered, switched, decrypted, it, start };
  }
  const ofGames = (position: bigint) => ({ ...eventAt(position, 'GamePut'), stream: 'games.box-1' });

  it('delivers large secrets encrypted, and no system events or events of other services', async () => {
    const { log, delivered, decrypted, start } = fixture();
    start();
    const others = { ...eventAt(3n), stream: 'dolls.box-1' };
    log.give([eventAt(1n), ofGames(2n), others, eventAt(4n, '$streamDeleted'), eventAt(5n, 'OfTomorrow')]);
    await eventually(() => delivered.length === 3);
    const summary = delivered.map((event) => [event.type, event.position, 'erased' in event]);
    expect(summary).to.deep.equal([
      ['ToyPut', 1n, true],
      ['GamePut', 2n, false],
      ['OfTomorrow', 5n, true],
    ]);
    expect(decrypted).to.deep.equal(['ToyPut', 'OfTomorrow']);
  });

  it('saves its windows after a projection switch, which clients do not receive', async () => {
    const saved: WindowStart[] = [];
    const { log, start } = fixture({
      saved: { save: async (windows) => void saved.push({ ...windows.get('toys')! }) },
    });
    start();
    log.give([eventAt(1n, 'ProjectionSwitched'), ofGames(2n)], { caughtUp: true });
    await eventually(() => saved.at(-1)?.from === 2n);
  });

  it('reports projection switches separately from other events', async () => {
    const { log, delivered, switched, start } = fixture();
    start();
    log.give([eventAt(1n), eventAt(2n, 'ProjectionSwitched'), eventAt(3n)]);
    await eventually(() => delivered.length === 3);
    expect(switched.map(({ position }) => position)).to.deep.equal([2n]);
  });

  it('makes the node forget keys and streams of erased subjects only', async () => {
    const forgotten: string[] = [];
    const { log, kernel, delivered, start } = fixture();
    kernel.vault.forget = (subject) => void forgotten.push(`key of ${subject}`);
    kernel.aggregates.forget = (stream) => void forgotten.push(stream);
    start();
    const erased = { ...eventAt(2n, 'NotesErased', { box: '1' }), stream: 'toys.erasures-1' };
    log.give([eventAt(1n), erased]);
    await eventually(() => delivered.length === 2);
    expect(forgotten).to.deep.equal(['key of toys.box-1', 'toys.box-1', 'toys.erasures-1']);
  });

  it('waits for an unavailable key store, and is live after all events are delivered', async () => {
    const { log, delivered, it, decrypted, start } = fixture();
    const { status, ready } = start();
    it.away = true;
    log.give([eventAt(1n), eventAt(2n)], { caughtUp: true });
    // Decryption has failed more than once.
    await eventually(() => decrypted.length > 2);
    expect([status(), delivered.length]).to.deep.equal(['waiting', 0]);
    it.away = false;
    expect(await ready).to.deep.equal(
      new Map([
        ['toys', 2n],
        ['games', 0n],
      ]),
    );
    expect([status(), delivered.length]).to.deep.equal(['live', 2]);
  });

  it('drops events older than 15 minutes from the resume window, by the time of the log', async () => {
    const saved: WindowStart[] = [];
    const { log, start } = fixture({
      saved: { save: async (windows) => void saved.push({ ...windows.get('toys')! }) },
    });
    start();
    const at = (position: bigint, recordedAt: number) => ({ ...ofGames(position), recordedAt });
    log.give([{ ...eventAt(1n), recordedAt: 0 }, at(2n, 900_000)], { caughtUp: true });
    await eventually(() => saved.at(-1)?.from === 0n);
    log.give([at(3n, 900_001)]);
    await eventually(() => saved.at(-1)?.from === 3n);
    expect(saved.at(-1)?.horizon).to.equal(1n);
  });

  it('delivers an event to all handlers of its service even if some throw, and logs the errors', async () => {
    const [delivered, errors]: [string[], unknown[]] = [[], []];
    const createHandler = (name: string) => (event: LiveEvent) => {
      delivered.push(`${name} ${event.position}`);
      if (name !== 'last' && event.position === 1n) throw new Error(name);
    };
    const error = (about: { err?: unknown }) => void errors.push(about.err);
    const { log, start } = fixture({
      subscriptions: table(createHandler('first'), createHandler('second'), createHandler('last')),
      logger: { ...silentLogger, error },
    });
    start();
    log.give([eventAt(1n), eventAt(2n)]);
    await eventually(() => delivered.length === 6);
    expect(delivered).to.deep.equal(['first 1', 'second 1', 'last 1', 'first 2', 'second 2', 'last 2']);
    expect((errors as Error[]).map(({ message }) => message)).to.deep.equal(['first', 'second']);
  });

  it('stops while waiting, and delivers nothing it could not decrypt', async () => {
    const { log, delivered, it, start } = fixture();
    const { status, stopped } = start();
    it.away = true;
    log.give([eventAt(1n)], { caughtUp: true });
    await eventually(() => status() === 'waiting');
    stop.abort();
    await stopped;
    expect([delivered.length, status()]).to.deep.equal([0, 'waiting']);
  });
});
