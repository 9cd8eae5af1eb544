/** Tests random sequences of appends, deletions and retries against a simple model of one stream. */
import { randomUUID } from 'node:crypto';
import {
  ANY,
  type AppendExpectedRevision,
  jsonEvent,
  NO_STREAM,
  STREAM_EXISTS,
  WrongExpectedVersionError,
} from '@eventstore/db-client';
import { expect } from 'chai';
import fc from 'fast-check';
import { freshStream, numbersOf, useEventStore } from '../../support/eventstore-client.js';

type Step =
  | { readonly kind: 'append'; readonly expected: number; readonly count: number }
  | { readonly kind: 'retry'; readonly of: number }
  | { readonly kind: 'maxCount'; readonly maxCount: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('append' as const),
      expected: fc.integer({ min: -3, max: 8 }),
      count: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('retry' as const), of: fc.nat(5) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('maxCount' as const),
      maxCount: fc.integer({ min: 1, max: 4 }),
    }),
  },
);

const WORDS = new Map<number, AppendExpectedRevision>([
  [-3, STREAM_EXISTS],
  [-2, ANY],
  [-1, NO_STREAM],
]);

describe('any sequence of appends', () => {
  const store = useEventStore();

  it('produces the answers and the stream of the model', async function () {
    this.timeout(120_000);
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const stream = freshStream('model');
        const numbers: number[] = [];
        let maxCount = Number.POSITIVE_INFINITY;
        let described = false;
        const accepted: {
          events: ReturnType<typeof jsonEvent>[];
          expected: AppendExpectedRevision;
          last: bigint;
        }[] = [];
        for (const next of steps) {
          if (next.kind === 'maxCount') {
            await store.client.setStreamMetadata(stream, { maxCount: next.maxCount });
            maxCount = next.maxCount;
            described = true;
          } else if (next.kind === 'retry') {
            const append = accepted[next.of];
            if (!append) continue;
            // With STREAM_EXISTS and ANY the store compares event ids; with a revision it compares the stored events.
            const { nextExpectedRevision } = await store.client.appendToStream(stream, append.events, {
              expectedRevision: append.expected,
            });
            expect(nextExpectedRevision).equal(append.last);
          } else {
            const expected = WORDS.get(next.expected) ?? BigInt(next.expected);
            const events = Array.from({ length: next.count }, (_, i) =>
              jsonEvent({ id: randomUUID(), type: 'Numbered', data: { n: numbers.length + i } }),
            );
            const fits =
              expected === ANY ||
              (expected === NO_STREAM && numbers.length === 0) ||
              (expected === STREAM_EXISTS && (numbers.length > 0 || described)) ||
              expected === BigInt(numbers.length - 1);
            const outcome = await store.client
              .appendToStream(stream, events, { expectedRevision: expected })
              .catch((error: unknown) => error);
            if (fits) {
              for (let i = 0; i < next.count; i++) numbers.push(numbers.length);
              const last = BigInt(numbers.length - 1);
              expect(outcome).include({ success: true, nextExpectedRevision: last });
              accepted.push({ events, expected, last });
            } else {
              expect(outcome).instanceOf(WrongExpectedVersionError);
              const actual = numbers.length === 0 ? NO_STREAM : BigInt(numbers.length - 1);
              expect(outcome).have.property('actualVersion', actual);
            }
          }
        }
        const visible = numbers.slice(Math.max(0, numbers.length - maxCount));
        const read = numbersOf(store.client.readStream(stream));
        if (numbers.length === 0) expect(await read.catch((error) => error)).have.property('type', 'stream-not-found');
        else expect(await read).deep.equal(visible);
      }),
      { numRuns: 60 },
    );
  });
});
