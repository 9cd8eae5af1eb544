/** Types of the chat's API that the page uses. Times are Unix ms. */

export interface User {
  readonly id: string;
  readonly userName: string;
  readonly isAdmin: boolean;
  readonly createdAt: number;
}

export interface Channel {
  readonly id: string;
  readonly name: string;
  readonly topic?: string;
  readonly isPrivate: boolean;
  readonly members: readonly string[];
  readonly createdBy: string;
  readonly createdAt: number;
  readonly updatedAt?: number;
}

export interface Conversation {
  readonly id: string;
  readonly participants: readonly string[];
  readonly createdAt: number;
  readonly lastMessageAt: number | null;
  readonly otherUser: { readonly id: string; readonly userName: string };
}

export interface Attachment {
  readonly filename: string;
  readonly originalName: string;
  readonly contentType: string;
  readonly size: number;
}

export interface Author {
  readonly id: string;
  readonly userName: string;
  readonly isBot?: boolean;
}

export interface ThreadMeta {
  readonly replyCount: number;
  readonly lastReplyAt: number;
  readonly lastReplyBy: Author;
  readonly participants: readonly string[];
}

/** User ids by reaction. */
export type Reactions = { readonly [reaction: string]: readonly string[] };

/** A message of a channel or conversation, or a reply. */
export interface Message {
  readonly id: string;
  /** Channel, or conversation of a direct message. */
  readonly channelId: string;
  readonly author: Author;
  readonly content: string;
  readonly attachments: readonly Attachment[];
  /** Stored names. */
  readonly images: readonly string[];
  /** User ids, `@channel` and `@here`. */
  readonly mentions: readonly string[];
  readonly quotedMessageId: string | null;
  readonly pinnedAt: number | null;
  readonly createdAt: number;
  readonly updatedAt: number | null;
  readonly reactions: Reactions;
  /** Id of the parent message of a reply. */
  readonly threadId?: string;
  readonly threadMeta?: ThreadMeta;
}

/** Of events: without reactions where they are unknown or very many. */
export type EventMessage = Omit<Message, 'reactions'> & { readonly reactions?: Reactions };

/** What a person composes. */
export interface MessageInput {
  readonly content: string;
  readonly attachments: readonly Attachment[];
  readonly images: readonly string[];
  readonly quotedMessageId: string | null;
}

export interface Version {
  readonly author: Author;
  readonly content: string;
  readonly attachments: readonly Attachment[];
  readonly images: readonly string[];
  readonly mentions: readonly string[];
  readonly quotedMessageId: string | null;
  readonly createdAt: number;
}

export interface SearchResult {
  readonly id: string;
  readonly channelId: string;
  readonly content: string;
  readonly author: Author;
  readonly createdAt: number;
  readonly threadId?: string;
}

export type Status = 'online' | 'away' | 'offline';

export interface PresenceEntry {
  readonly userId: string;
  readonly status: Status;
  readonly lastSeen: number;
}

export interface ReactionPayload {
  readonly messageId: string;
  readonly channelId: string;
  readonly userId: string;
  readonly reaction: string;
}

export interface ReplyPayload extends EventMessage {
  readonly parentMessageId: string;
  readonly threadMeta: ThreadMeta;
}

/** Events of the stream that change what the page shows. */
export type ChatEvent =
  | { readonly type: 'CONNECTED'; readonly payload: { readonly userId: string } }
  | { readonly type: 'RESET' }
  | {
      readonly type: 'NEW_MESSAGE' | 'UPDATE_MESSAGE' | 'NEW_DM_MESSAGE' | 'UPDATE_DM_MESSAGE';
      readonly payload: EventMessage;
    }
  | {
      readonly type: 'DELETE_MESSAGE' | 'DELETE_DM_MESSAGE';
      readonly payload: { readonly id: string; readonly channelId: string };
    }
  | { readonly type: 'NEW_CHANNEL' | 'UPDATE_CHANNEL'; readonly payload: Channel }
  | { readonly type: 'DELETE_CHANNEL'; readonly payload: { readonly id: string; readonly name: string } }
  | { readonly type: 'NEW_REACTION' | 'DELETE_REACTION'; readonly payload: ReactionPayload }
  | { readonly type: 'NEW_USER' | 'UPDATE_USER' | 'REMOVE_USER' | 'USER_EXIT'; readonly payload: User }
  | { readonly type: 'NEW_CONVERSATION'; readonly payload: Conversation }
  | { readonly type: 'NEW_THREAD_REPLY' | 'UPDATE_THREAD_REPLY'; readonly payload: ReplyPayload }
  | {
      readonly type: 'DELETE_THREAD_REPLY';
      readonly payload: {
        readonly id: string;
        readonly parentMessageId: string;
        readonly channelId: string;
        readonly threadMeta: ThreadMeta | null;
      };
    }
  | { readonly type: 'UPDATE_SERVER_SETTINGS'; readonly payload: { readonly name: string } }
  | { readonly type: 'PRESENCE_UPDATE'; readonly payload: PresenceEntry };
