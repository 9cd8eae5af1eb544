/** Keeps `process.nextTick` fast. Streams, HTTP and timers call it dozens of times per request. */
import { executionAsyncResource } from 'node:async_hooks';

const tickObjects: object[] = [];

/**
 * Retains one of Node's tick objects. Call once, early.
 *
 * When a full garbage collection finds none alive, as in an idle moment, V8 drops the hidden class of these objects;
 * from then on Node creates each one eight times slower, which made a post 25 % more expensive.
 */
export function tuneNextTick(): void {
  process.nextTick(() => {
    tickObjects[0] ??= executionAsyncResource();
  });
}
