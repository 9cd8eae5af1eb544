/** Finds the channel of an existing message without replaying a long thread. */
import { type MessageEvent, messageNotFound, messageStream } from '../../../domain/chat/message.js';
import type { Rejection } from '../../../domain/shared/index.js';
import { type AggregateStore, isEvent } from '../../command/index.js';
import type { EventLog, Position } from '../../ports/index.js';
import { messageAggregate } from '../aggregates.js';
import type { Authentication } from '../sign-in/authenticate.js';

export interface MessageLocatorPorts {
  readonly admission: Pick<Authentication, 'load'>;
  readonly streams: Pick<AggregateStore, 'cached'>;
  readonly log: Pick<EventLog, 'read'>;
}

export interface MessageLocation {
  /** Channel or conversation id. */
  readonly channelId: string;
  /** Position of the message's last known event. */
  readonly position: Position;
}

/** Revisions up to which a message is loaded whole and cached. */
const MAX_FULL_READ = 200;

type Posted = Extract<MessageEvent, { type: 'MessagePosted' }>;

export function createMessageLocator({ admission, streams, log }: MessageLocatorPorts) {
  /**
   * As of `seen` or later. Of a long stream only the first event (the post) and the last (perhaps the deletion) are
   * read.
   */
  return async function locateMessage(messageId: string, seen?: Position): Promise<MessageLocation | Rejection> {
    const stream = messageStream(messageId);
    if (!streams.cached(messageAggregate, stream)) {
      const [newest] = await readOne({ backwards: true });
      if (!newest || newest.type === 'MessageDeleted') return messageNotFound;
      if (newest.revision >= MAX_FULL_READ) {
        const [first] = await readOne({ from: 0 });
        if (!first || !isEvent<Posted>('MessagePosted', first)) return messageNotFound;
        return { channelId: first.data.channelId, position: newest.position };
      }
    }
    const { state, position, deleted } = await admission.load(messageAggregate, stream, seen);
    return state.status === 'active' && !deleted ? { channelId: state.channelId, position } : messageNotFound;

    async function readOne(at: { readonly backwards: true } | { readonly from: number }) {
      const events = await log.read(stream, { ...at, limit: 1 });
      return typeof events === 'string' ? [] : events;
    }
  };
}
