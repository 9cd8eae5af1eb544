/** Bodies have to come along: one that stalls or trickles holds memory, or a connection, that others need. */
import type { Socket } from 'node:net';
import { type After, afterAll } from '../../platform/process/timer.js';

/** How often it is looked at, ms: who stalls is found out within two of them. */
const WINDOW_MS = 5000;
/** What has to come in each: an eighth of what an uplink of 32 KB/s brings, which may falter. */
const LEAST_BYTES = 20 * 1024;

/** Tells once when too little comes in over a connection that a body is expected on; returns what calls it off. */
export function watchProgress(socket: Socket, late: () => void, after: After = afterAll): () => void {
  let seen = socket.bytesRead;
  let judging: NodeJS.Immediate | undefined;
  let callOff = after(WINDOW_MS, look);

  // What came while this process was busy, or asleep, is read first.
  function look() {
    judging = setImmediate(judge);
  }

  function judge() {
    const came = socket.bytesRead - seen;
    if (came < LEAST_BYTES) return late();
    seen += came;
    callOff = after(WINDOW_MS, look);
  }

  return () => {
    callOff();
    clearImmediate(judging);
  };
}
