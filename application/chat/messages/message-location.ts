/** Where a message was said that is there: of one with a long thread, without reading all that has happened in it. */
import { type MessageEvent, messageNotFound, messageStream } from '../../../domain/chat/message.js';
import type { Rejection } from '../../../domain/shared/decider.js';
import type { Streams } from '../../command/aggregate-store.js';
import { isOf } from '../../command/event-guards.js';
import type { EventLog, Position } from '../../ports/index.js';
import { messageKind } from '../aggregates.js';
import type { ChatAdmission } from '../sign-in/authenticate.js';

export interface MessagePlacePorts {
  readonly admission: Pick<ChatAdmission, 'load'>;
  readonly streams: Pick<Streams, 'known'>;
  readonly log: Pick<EventLog, 'read'>;
}

export interface MessagePlace {
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
  return async function messagePlace(messageId: string, seen?: Position): Promise<MessagePlace | Rejection> {
    const stream = messageStream(messageId);
    if (!streams.known(messageKind, stream)) {
      const [newest] = await found({ backwards: true });
      if (!newest || newest.type === 'MessageDeleted') return messageNotFound;
      if (newest.revision >= SHORT) {
        const [first] = await found({ from: 0 });
        if (!first || !isOf<Posted>('MessagePosted', first)) return messageNotFound;
        return { channelId: first.data.channelId, position: newest.position };
      }
    }
    const { state, position, deleted } = await admission.load(messageKind, stream, seen);
    return state.status === 'there' && !deleted ? { channelId: state.channelId, position } : messageNotFound;

    async function found(at: { readonly backwards: true } | { readonly from: number }) {
      const events = await log.read(stream, { ...at, limit: 1 });
      return typeof events === 'string' ? [] : events;
    }
  };
}
