/** Results of event store calls: an answer, "not now", or damage. */
import { PassThrough } from 'node:stream';
import { rejection } from '@annals/engines/testing/eventstore-client.js';
import {
  AccessDeniedError,
  CancelledError,
  DeadlineExceededError,
  UnavailableError as GrpcUnavailableError,
  InvalidArgumentError,
  MaxAppendSizeExceededError,
  NotLeaderError,
  RequiredMetadataPropertyMissingError,
  type ResolvedEvent,
  StreamDeletedError,
  type StreamingRead,
  StreamNotFoundError,
  TimeoutError,
  UnknownError,
  UnsupportedError,
  WrongExpectedVersionError,
} from '@eventstore/db-client';
import type { Metadata, ServiceError } from '@grpc/grpc-js';
import { expect } from 'chai';
import { callStore, createAppendDeadline, readAll } from '../../../adapters/eventstore/client.js';
import { STORE_CALL_MS } from '../../../application/concurrency/deadline.js';
import { CorruptEventError, type Logger, UnavailableError } from '../../../application/ports/index.js';
import { type FakeClock, fakeClock, useFakeTimers } from '../../support/fake-clock.js';

/** An error as gRPC delivers it, with the fields that the driver reads. */
const raw = (code: number, details = ''): ServiceError => {
  const metadata = {
    get: () => ['1113'],
    getMap: () => ({
      'required-metadata-properties': 'type',
      'leader-endpoint-host': 'other',
      'leader-endpoint-port': '1',
    }),
  } as unknown as Metadata;
  return Object.assign(new Error(details), { code, details, metadata });
};

const ANSWERS = [
  new WrongExpectedVersionError(undefined, { streamName: 's', expected: 'any', current: 'no_stream' }),
  new StreamDeletedError(undefined, 's'),
  new StreamNotFoundError(undefined, 's'),
  new MaxAppendSizeExceededError(undefined, 1024),
  new AccessDeniedError(raw(7)),
  new InvalidArgumentError('not so'),
  new RequiredMetadataPropertyMissingError(raw(2)),
  new UnsupportedError('read', '23.10'),
];
const AWAY = [
  new GrpcUnavailableError(raw(14)),
  new DeadlineExceededError(raw(4)),
  new CancelledError(raw(1)),
  new TimeoutError(raw(4)),
  new UnknownError(raw(2, 'Leader election in progress')),
  new NotLeaderError(raw(5)),
  raw(14, 'connection closed'),
  raw(15, 'not of the driver'),
  new TypeError('a bug of the driver'),
];

describe('a call to the event store', () => {
  let time: FakeClock;
  let realTimers: () => void;
  const { now } = performance;

  beforeEach(() => {
    time = fakeClock();
    realTimers = useFakeTimers(time);
    performance.now = () => time.now();
  });
  afterEach(() => {
    realTimers();
    performance.now = now;
  });

  for (const answer of ANSWERS)
    it(`results in ${answer.constructor.name}`, async () => {
      expect(await rejection(callStore(() => Promise.reject(answer)))).to.equal(answer);
    });

  it('treats any other error as an unavailable store', async () => {
    for (const cause of AWAY) {
      const error = await rejection(callStore(() => Promise.reject(cause)));
      expect(error, String(cause)).to.be.instanceOf(UnavailableError).with.property('cause', cause);
      expect(error).to.have.property('message', 'the event store is away');
    }
    const away = new UnavailableError('told before');
    expect(await rejection(callStore(() => Promise.reject(away)))).to.equal(away);
  });

  it('distinguishes damage, which a retry does not fix, from absence', async () => {
    const cause = new UnknownError(raw(15, 'checksum of event 7'));
    const error = await rejection(callStore(() => Promise.reject(cause)));
    expect(error).to.be.instanceOf(CorruptEventError).with.property('cause', cause);
    expect(error).to.have.property('message').that.contains('checksum of event 7');
  });

  it('has a deadline', async () => {
    expect(await callStore(async () => 'done')).to.equal('done');
    const silent = rejection(callStore(() => new Promise(() => {})));
    time.pass(STORE_CALL_MS - 1);
    expect(await Promise.race([silent, new Promise((resolve) => setImmediate(resolve, 'waiting'))])).to.equal(
      'waiting',
    );
    time.pass(1);
    expect(await silent)
      .to.be.instanceOf(UnavailableError)
      .with.property('message', `the event store did not answer within ${STORE_CALL_MS} ms`);
  });

  describe('reading', () => {
    class Reading extends PassThrough {
      cancelled = 0;
      readonly late: unknown[] = [];
      constructor() {
        super({ objectMode: true });
      }
      override destroy(error?: Error) {
        if (error instanceof UnavailableError) this.late.push(error);
        return super.destroy(error);
      }
      async cancel() {
        this.cancelled++;
        throw new Error('it was over already');
      }
    }
    const open = () => {
      const reading = new Reading();
      return { reading, found: readAll(() => reading as unknown as StreamingRead<ResolvedEvent>) };
    };
    const turn = () => new Promise((resolve) => setImmediate(resolve));

    it('may take long in total, but each wait has the deadline of a call', async () => {
      const { reading, found } = open();
      const outcome = rejection(found);
      for (let event = 0; event < 3; event++) {
        time.pass(STORE_CALL_MS - 500);
        reading.write({ event });
        await turn();
      }
      time.pass(STORE_CALL_MS - 1);
      await turn();
      expect(reading.destroyed).to.equal(false);
      time.pass(1);
      expect(await outcome)
        .to.be.instanceOf(UnavailableError)
        .with.property('message')
        .that.matches(/silent/);
      expect(reading.cancelled).to.equal(1);
    });

    it('returns everything and leaves no timer', async () => {
      const { reading, found } = open();
      reading.write({ event: 1 });
      reading.end({ event: 2 });
      expect(await found).to.deep.equal([{ event: 1 }, { event: 2 }]);
      expect(reading.cancelled).to.equal(0);
      // The timer is cleared, and late errors are ignored.
      time.pass(10_000);
      expect(reading.late).to.deep.equal([]);
      reading.emit('error', new Error('late'));
    });

    it("ends with the store's error", async () => {
      const { reading, found } = open();
      const missing = new StreamNotFoundError(undefined, 's');
      reading.destroy(missing);
      expect(await rejection(found)).to.equal(missing);
      expect(reading.cancelled).to.equal(0);
      const { reading: cut, found: lost } = open();
      cut.destroy(raw(14));
      expect(await rejection(lost)).to.be.instanceOf(UnavailableError);
    });
  });

  describe('appending', () => {
    const late = new DeadlineExceededError(raw(4));
    let warnings: number;
    let deadlines: number[];
    const logger = { warn: () => void warnings++ } as unknown as Logger;
    beforeEach(() => {
      [warnings, deadlines] = [0, []];
    });
    /** Refused as too late whenever there is a deadline. */
    const behind = (after: number) => async (deadline: number) => {
      deadlines.push(deadline);
      time.sleep(after);
      if (deadline !== Number.POSITIVE_INFINITY) throw late;
      return 'appended';
    };

    it('sends its deadline to the store', async () => {
      const inTime = createAppendDeadline(logger);
      const append = async (deadline: number) => deadlines.push(deadline);
      await inTime(append);
      await inTime(append);
      expect([deadlines, warnings]).to.deep.equal([[STORE_CALL_MS, STORE_CALL_MS], 0]);
    });

    it('is repeated without a deadline if that had passed on arrival; later ones have none, logged once', async () => {
      const inTime = createAppendDeadline(logger);
      expect(await inTime(behind(0))).to.equal('appended');
      expect(await inTime(behind(0))).to.equal('appended');
      expect(deadlines).to.deep.equal([STORE_CALL_MS, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]);
      expect(warnings).to.equal(1);
      const both = createAppendDeadline(logger);
      await Promise.all([both(behind(0)), both(behind(0))]);
      expect(warnings).to.equal(2);
    });

    it('is not repeated when the store was slow, unavailable or refused', async () => {
      const inTime = createAppendDeadline(logger);
      const error = await rejection(inTime(behind(1500)));
      expect(error).to.be.instanceOf(UnavailableError).with.property('cause', late);
      for (const refusal of [new GrpcUnavailableError(raw(14)), new StreamDeletedError(undefined, 's')]) {
        const once = (deadline: number) => {
          deadlines.push(deadline);
          return Promise.reject(refusal);
        };
        await rejection(inTime(once));
      }
      expect([deadlines, warnings]).to.deep.equal([[STORE_CALL_MS, STORE_CALL_MS, STORE_CALL_MS], 0]);
      expect(await inTime(behind(1499))).to.equal('appended');
    });

    it('detects a slow clock only by a successful append', async () => {
      const inTime = createAppendDeadline(logger);
      const refused = async (deadline: number) => {
        deadlines.push(deadline);
        if (deadline === Number.POSITIVE_INFINITY) throw raw(14);
        throw late;
      };
      expect(await rejection(inTime(refused))).to.be.instanceOf(UnavailableError);
      expect(warnings).to.equal(0);
      await inTime(async (deadline) => deadlines.push(deadline));
      expect(deadlines).to.deep.equal([STORE_CALL_MS, Number.POSITIVE_INFINITY, STORE_CALL_MS]);
    });
  });
});
