/** How much was relayed in which meeting that is kept nowhere: a count, now and then, for whoever runs the service. */
import type { SignalEvent } from '../../domain/meeting/catalog.js';
import { type Appender, newEvent } from '../command/index.js';
import { sleep } from '../concurrency/index.js';
import type { CommandContext, EventLog } from '../ports/index.js';

export interface SignalCounterPorts {
  readonly log: Pick<EventLog, 'retain'>;
  readonly appender: Pick<Appender, 'append'>;
  /** The name of this node: nobody else writes to its stream. */
  readonly node: string;
  readonly release: string;
  readonly systemContext: (actor: string) => CommandContext;
}

interface MeetingRef {
  readonly roomId: string;
  readonly meetingId: string;
}

/** Of one node at most once in this time, for each meeting that had some. */
const WRITE_INTERVAL_MS = 60_000;
const RETENTION_SECONDS = 30 * 86_400;

/** Apart from the rooms, whose rules it would only be in the way of, and of one writer: nothing contends for it. */
export const signalCountStream = (node: string): string => `meeting.relayed-${node}`;

export function createSignalCounter({ log, appender, node, release, systemContext }: SignalCounterPorts) {
  let counts = new Map<string, MeetingRef & { count: number }>();
  const stream = signalCountStream(node);
  let isRetentionSet = false;

  function add({ roomId, meetingId }: MeetingRef, count = 1) {
    const entry = counts.get(meetingId);
    if (entry) entry.count += count;
    else counts.set(meetingId, { roomId, meetingId, count });
  }

  return {
    /** One more. */
    count: (meeting: MeetingRef) => add(meeting),

    /** Writes every so often, and at the end; rejects as `write` does. */
    async keepWriting(stop: AbortSignal): Promise<void> {
      while (!stop.aborted) {
        await sleep(WRITE_INTERVAL_MS, stop);
        await write();
      }
    },

    write,
  };

  /** Rejects with `Unavailable`, and what was counted is written with the next. */
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
