/**
 * Concurrency primitives: mutex, semaphore, single-flight, batching, rate limits, deadlines, cooperative scheduling, memory estimates.
 */
export {
  createSliceQueue,
  createYielder,
  runSliced,
  sliceExpired,
  yieldToEventLoop,
} from './cooperative-scheduler.js';
export {
  type After,
  HEALTH_MS,
  REQUEST_MS,
  RETRY_MS,
  STORE_CALL_MS,
  sleep,
  systemTimer,
  withDeadline,
} from './deadline.js';
export { createFairSemaphore, type WaitOptions } from './fair-semaphore.js';
export { serializeList, streamList } from './json-lists.js';
export { createKeyedMutex } from './keyed-mutex.js';
export {
  type Budget,
  combine,
  createBoundedParallel,
  createBudget,
  createRateLimiters,
  createSlidingWindow,
  createTokenBucket,
  estimateBytes,
  type Level,
  type RateLimiter,
  type Reservation,
  type Shortage,
  type TokenBucketOptions,
} from './limiters.js';
export { readAhead } from './read-ahead.js';
export { createBatchFlight, createBatchLoader, createFreshSingleFlight, createSingleFlight } from './single-flight.js';
