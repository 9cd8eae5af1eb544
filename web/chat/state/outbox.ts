/**
 * Messages on their way to the service. Each has an idempotency key, so that sending it again after a lost answer or a
 * reload does not post it twice. Messages of one place are sent in order.
 */
import type { EventMessage, MessageInput } from '../contract.js';

export interface Outgoing extends MessageInput {
  /** Idempotency key. */
  readonly key: string;
  /** Channel or conversation. */
  readonly placeId: string;
  /** Parent message of a reply. */
  readonly threadId?: string;
  readonly writtenAt: number;
  /** `failed` waits for the author: the service refused it, or he should decide. */
  readonly status: 'waiting' | 'sending' | 'failed';
  readonly error?: string;
  /** An event has reported the message, its answer is on its way: the message itself is shown. */
  readonly isReported?: boolean;
}

export type Outbox = readonly Outgoing[];

/** Key of the timeline in which a message appears. */
export const timelineOf = ({ placeId, threadId }: Pick<Outgoing, 'placeId' | 'threadId'>): string =>
  threadId ?? placeId;

export const ofTimeline = (outbox: Outbox, key: string): Outbox =>
  outbox.filter((each) => timelineOf(each) === key && !each.isReported);

export const update = (outbox: Outbox, key: string, changes: Partial<Outgoing>): Outbox =>
  outbox.map((each) => (each.key === key ? { ...each, ...changes } : each));

export const withoutKey = (outbox: Outbox, key: string): Outbox => outbox.filter((each) => each.key !== key);

/** The next message to send of each timeline without one on its way. A failed one does not stop those after it. */
export function nextToSend(outbox: Outbox): Outbox {
  const busy = new Set(outbox.filter(({ status }) => status === 'sending').map(timelineOf));
  const next: Outgoing[] = [];
  for (const outgoing of outbox) {
    const key = timelineOf(outgoing);
    if (outgoing.status !== 'waiting' || busy.has(key)) continue;
    busy.add(key);
    next.push(outgoing);
  }
  return next;
}

/** After a reload, messages that were being sent are sent again with their keys. */
export const restored = (outbox: Outbox): Outbox =>
  outbox.map((each) => (each.status === 'sending' ? { ...each, status: 'waiting' } : each));

/**
 * The message being sent that an event reports, so that it does not appear twice before its answer arrives: events carry
 * no idempotency key.
 */
export const reportedBy = (outbox: Outbox, timelineKey: string, message: EventMessage): Outgoing | undefined =>
  outbox.find(
    (each) =>
      each.status === 'sending' &&
      !each.isReported &&
      timelineOf(each) === timelineKey &&
      each.content === message.content &&
      each.quotedMessageId === message.quotedMessageId &&
      each.images.join() === message.images.join() &&
      each.attachments.length === message.attachments.length,
  );
