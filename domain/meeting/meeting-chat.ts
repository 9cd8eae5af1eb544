/** What people say to all in a meeting room. What is said at one node in an hour, in all rooms, is one stream. */
import type { ChatEvent } from './catalog.js';

/** `meeting.talk-<node>-2026-11-21-09`. */
export const chatStream = (node: string, at: number): string =>
  `meeting.talk-${node}-${new Date(at).toISOString().slice(0, 13).replace('T', '-')}`;

/** Who speaks, where and when: nobody says two things at one time. */
export interface SpokenBy {
  readonly roomId: string;
  readonly meetingId: string;
  readonly participantId: string;
  readonly sentAt: number;
}

/** What a chat message is known by, and named in answers to it. */
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
