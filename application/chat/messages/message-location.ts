/** Where a message was said that is there: of one with a long thread, without reading all that has happened in it. */
import { type MessageEvent, messageNotFound, messageStream } from '../../../domain/chat/message.js';
import type { Rejection } from '../../../domain/shared/index.js';
import { type AggregateStore, isEvent } from '../../command/index.js';
import type { EventLog, Position } from '../../ports/index.js';
import { messageAggregate } from '../aggregates.js';
import type { Authentication } from '../sign-in/authenticate.js';

export interface MessagePlacePorts {
  readonly admission: Pick<Authentication, 'load'>;
  readonly streams: Pick<AggregateStore, 'cached'>;
  readonly log: Pick<EventLog, 'read'>;
}

export interface MessageLocation {
  /** Or the id of a conversation. */
  readonly channelId: string;
  /** Of the last event that is known of it. */
  readonly position: Position;
}

/** What is no longer is read whole, once, and remembered. */
const SHORT = 200;

type Posted = Extract<MessageEvent, { type: 'MessagePosted' }>;

export function createMessagePlace({ admission, streams, log }: MessagePlacePorts) {
  /** At least as the log was at `seen`. Of a long one its ends are read: it begins with its post, and ends with its deletion. */
  return async function messagePlace(messageId: string, seen?: Position): Promise<MessageLocation | Rejection> {
    const stream = messageStream(messageId);
    if (!streams.cached(messageAggregate, stream)) {
      const [newest] = await found({ backwards: true });
      if (!newest || newest.type === 'MessageDeleted') return messageNotFound;
      if (newest.revision >= SHORT) {
        const [first] = await found({ from: 0 });
        if (!first || !isEvent<Posted>('MessagePosted', first)) return messageNotFound;
        return { channelId: first.data.channelId, position: newest.position };
      }
    }
    const { state, position, deleted } = await admission.load(messageAggregate, stream, seen);
    return state.status === 'there' && !deleted ? { channelId: state.channelId, position } : messageNotFound;

    async function found(at: { readonly backwards: true } | { readonly from: number }) {
      const events = await log.read(stream, { ...at, limit: 1 });
      return typeof events === 'string' ? [] : events;
    }
  };
}
