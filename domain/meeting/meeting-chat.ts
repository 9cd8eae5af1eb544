/** Chat and reactions of meetings; each node writes one stream per hour for all rooms. */
import type { ChatEvent } from './catalog.js';

/** Stream name: `meeting.talk-<node>-2026-11-21-09`. */
export const chatStream = (node: string, at: number): string =>
  `meeting.talk-${node}-${new Date(at).toISOString().slice(0, 13).replace('T', '-')}`;

/** Sender, room and time of a message. A sender has no two messages with the same time. */
export interface SpokenBy {
  readonly roomId: string;
  readonly meetingId: string;
  readonly participantId: string;
  readonly sentAt: number;
}

/** Id of a chat message, referred to by replies. */
export const messageIdOf = ({ sentAt, participantId }: Pick<SpokenBy, 'sentAt' | 'participantId'>): string =>
  `${sentAt}-${participantId}`;

export const chatSent = (
  { roomId, meetingId, participantId, sentAt }: SpokenBy,
  text: string,
  replyTo?: string | undefined,
): ChatEvent => ({
  type: 'ChatSent',
  data: {
    roomId,
    meetingId,
    participantId,
    sentAt,
    secret: { text, ...(replyTo !== undefined && { replyTo }) },
  },
});

export const reactionSent = ({ roomId, meetingId, participantId, sentAt }: SpokenBy, reaction: string): ChatEvent => ({
  type: 'ReactionSent',
  data: { roomId, meetingId, participantId, sentAt, secret: { reaction } },
});
