/** How fast something may go on in meetings: some of it at once, and beyond that so much in a second. */
import type { TokenBucketOptions } from '../concurrency/index.js';

/**
 * Changes of a room by one client: what it changes stands in the log for weeks, and is read whenever a node starts. So
 * many as a client makes that tries everything; then more than a hand can press.
 */
export const ROOM_CHANGES: TokenBucketOptions = { burst: 200, perSecond: 2 };

/** The same by one network, over however many connections: as many as come together, and a crowd makes that stays. */
export const ROOM_CHANGES_PER_NETWORK: TokenBucketOptions = { burst: 20_000, perSecond: 20 };

/** Bytes of chat and reactions of one network, with what each takes in the log besides: kept for a day. */
export const CHAT_BYTES: TokenBucketOptions = { burst: 32 * 1024 * 1024, perSecond: 128 * 1024 };

/** Bytes of offers, answers and candidates that one person is told whether or not they read them. */
export const SIGNAL_BYTES: TokenBucketOptions = { burst: 256 * 1024, perSecond: 32 * 1024 };
