/**
 * Concurrency primitives: mutex, semaphore, single-flight, batching, rate limits, deadlines, cooperative scheduling, memory estimates.
 */
export { createBatchLoader } from './batch-loader.js';
export {
  createSliceQueue,
  createYielder,
  runSliced,
  sliceExpired,
  yieldToEventLoop,
} from './cooperative-scheduler.js';
export { HEALTH_MS, REQUEST_MS, RETRY_MS, STORE_CALL_MS, sleep, withDeadline } from './deadline.js';
export { estimateBytes } from './estimate-size.js';
export { createFairSemaphore, type WaitOptions } from './fair-semaphore.js';
export {
  type Budget,
  createBudget,
  type Level,
  type Reservation,
  type Shortage,
} from './fair-share-budget.js';
export { serializeList, streamList } from './json-lists.js';
export { createKeyedMutex } from './keyed-mutex.js';
export {
  combine,
  createRateLimiters,
  createSlidingWindow,
  createTokenBucket,
  type RateLimiter,
  type TokenBucketOptions,
} from './rate-limiter.js';
export { createBatchFlight, createFreshSingleFlight, createSingleFlight } from './single-flight.js';
