/** Token bucket limits of meeting messages. */
import type { TokenBucketOptions } from '../concurrency/index.js';

/**
 * Room changes of one client. Changes stay in the log for weeks and are replayed when a node starts. The burst
 * suffices for automated tests, the rate for any human.
 */
export const ROOM_CHANGES: TokenBucketOptions = { burst: 200, perSecond: 2 };

/** Room changes of one network over all its connections; sized for large groups behind one address. */
export const ROOM_CHANGES_PER_NETWORK: TokenBucketOptions = { burst: 20_000, perSecond: 20 };

/** Bytes of chat and reactions of one network, including log overhead; stored for a day. */
export const CHAT_BYTES: TokenBucketOptions = { burst: 32 * 1024 * 1024, perSecond: 128 * 1024 };

/** Bytes of offers, answers and candidates sent to one participant without waiting for the socket to drain. */
export const SIGNAL_BYTES: TokenBucketOptions = { burst: 256 * 1024, perSecond: 32 * 1024 };
