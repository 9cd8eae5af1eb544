/** Counts relayed signals per meeting and writes the counts to the log periodically, for operators. */
import type { SignalEvent } from '../../domain/meeting/catalog.js';
import { type Appender, newEvent } from '../command/index.js';
import { sleep } from '../concurrency/index.js';
import type { CommandContext, EventLog } from '../ports/index.js';

export interface SignalCounterPorts {
  readonly log: Pick<EventLog, 'retain'>;
  readonly appender: Pick<Appender, 'append'>;
  /** Name of this node, which is the only writer of its stream. */
  readonly node: string;
  readonly release: string;
  readonly systemContext: (actor: string) => CommandContext;
  /** Counts each signal in the metrics. */
  readonly observe: () => void;
}

interface MeetingRef {
  readonly roomId: string;
  readonly meetingId: string;
}

/** Milliseconds between writes; each covers all meetings with new signals. */
const WRITE_INTERVAL_MS = 60_000;
const RETENTION_SECONDS = 30 * 86_400;

/** Stream of one node's counts. Kept apart from the room streams, so that it has one writer and no conflicts. */
export const signalCountStream = (node: string): string => `meeting.relayed-${node}`;

export function createSignalCounter({ log, appender, node, release, systemContext, observe }: SignalCounterPorts) {
  let counts = new Map<string, MeetingRef & { count: number }>();
  const stream = signalCountStream(node);
  let isRetentionSet = false;

  function add({ roomId, meetingId }: MeetingRef, count = 1) {
    const entry = counts.get(meetingId);
    if (entry) entry.count += count;
    else counts.set(meetingId, { roomId, meetingId, count });
  }

  return {
    count(meeting: MeetingRef) {
      observe();
      add(meeting);
    },

    /** Writes periodically and once at the end; throws as `write` does. */
    async writePeriodically(stop: AbortSignal): Promise<void> {
      while (!stop.aborted) {
        await sleep(WRITE_INTERVAL_MS, stop);
        await write();
      }
    },

    write,
  };

  /** Throws `UnavailableError`; the counts are included in the next write then. */
  async function write(): Promise<void> {
    const all = [...counts.values()];
    if (all.length === 0) return;
    counts = new Map();
    try {
      if (!isRetentionSet) await log.retain(stream, { maxAgeSeconds: RETENTION_SECONDS });
      isRetentionSet = true;
      const context = systemContext('meeting.relayed');
      const events = all.map((data, index) => {
        const event: SignalEvent = { type: 'SignalRelayed', data };
        return {
          event: newEvent({ service: 'meeting', release }, stream, event, index, context),
          bytes: Buffer.byteLength(JSON.stringify(data)),
        };
      });
      await appender.append(stream, events);
    } catch (error) {
      for (const { count, ...meeting } of all) add(meeting, count);
      throw error;
    }
  }
}
