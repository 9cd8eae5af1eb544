/** Detects request bodies that stall or trickle, as they occupy memory or a connection. */
import type { Socket } from 'node:net';
import { type After, systemTimer } from '../../platform/process/timer.js';

/** Interval of the check in ms: a stalled body is detected within two of them. */
const WINDOW_MS = 5000;
/** Minimum bytes per window: an eighth of an uplink of 32 KB/s, as connections may falter. */
const MIN_BYTES = 20 * 1024;

/**
 * Watches a connection on which a body is expected.
 *
 * @param onTooSlow Called once when a window brings too few bytes.
 * @returns Stops watching.
 */
export function watchBodyProgress(socket: Socket, onTooSlow: () => void, after: After = systemTimer): () => void {
  let countedBytes = socket.bytesRead;
  let pendingCheck: NodeJS.Immediate | undefined;
  let cancel = after(WINDOW_MS, scheduleCheck);

  // Data that arrived while this process was busy or suspended is read before the check.
  function scheduleCheck() {
    pendingCheck = setImmediate(check);
  }

  function check() {
    const bytes = socket.bytesRead - countedBytes;
    if (bytes < MIN_BYTES) return onTooSlow();
    countedBytes += bytes;
    cancel = after(WINDOW_MS, scheduleCheck);
  }

  return () => {
    cancel();
    clearImmediate(pendingCheck);
  };
}
