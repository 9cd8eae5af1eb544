/** Types of the WebSocket messages of a meeting; every message has the fields of `Base`. */

export interface Base {
  readonly roomId: string;
  readonly participantId: string;
  /** Unix ms. */
  readonly timestamp: number;
}

export interface Flags {
  readonly isMuted: boolean;
  readonly isVideoOff: boolean;
  readonly isHandRaised: boolean;
}

export interface Candidate {
  readonly candidate: string;
  readonly sdpMid: string | null;
  readonly sdpMLineIndex: number | null;
}

/** For one participant only. */
export type Signal =
  | { readonly type: 'offer' | 'answer'; readonly targetId: string; readonly sdp: string }
  | { readonly type: 'ice-candidate'; readonly targetId: string; readonly candidate: Candidate };

/** For one participant only; `transferId` identifies the transfer from offer to last chunk. */
export type FileMessage =
  | {
      readonly type: 'file-offer';
      readonly targetId: string;
      readonly transferId: string;
      readonly fileName: string;
      /** Bytes. */
      readonly fileSize: number;
      /** A MIME type, or empty. */
      readonly fileType: string;
    }
  | {
      readonly type: 'file-answer';
      readonly targetId: string;
      readonly transferId: string;
      readonly accepted: boolean;
    }
  | {
      readonly type: 'file-chunk';
      readonly targetId: string;
      readonly transferId: string;
      /** Base64. */
      readonly chunk: string;
      /** From 0. */
      readonly index: number;
      readonly total: number;
    };

export type Action = 'mute' | 'unmute' | 'kick' | 'make-moderator';

export interface Join {
  readonly type: 'join';
  readonly roomId: string;
  readonly name: string;
  readonly isHost: boolean;
  readonly password?: string;
  readonly creatorToken?: string;
  /** With both, the participant returns under the same id. */
  readonly participantId?: string;
  readonly resumeToken?: string;
}

export interface ChatText {
  readonly text: string;
  readonly replyTo?: string;
}

export type ClientMessage =
  | Join
  | Signal
  | FileMessage
  | { readonly type: 'leave' | 'raise-hand' | 'lower-hand' | 'room-locked' | 'room-unlocked' }
  | ({ readonly type: 'chat' } & ChatText)
  | ({ readonly type: 'participant-updated' } & Partial<Flags>)
  | { readonly type: 'reaction'; readonly reaction: string }
  | { readonly type: 'recording-started'; readonly startedBy: string }
  | { readonly type: 'recording-stopped'; readonly stoppedBy: string }
  | { readonly type: 'moderator-action'; readonly targetId: string; readonly action: Action }
  | { readonly type: 'admit-user'; readonly targetId: string }
  | { readonly type: 'reject-user'; readonly targetId: string; readonly reason: string };

export type Chat = Base &
  ChatText & {
    readonly type: 'chat';
    readonly name: string;
    readonly messageId: string;
  };

export type ServerMessage = Base &
  (
    | {
        readonly type: 'participant-joined';
        readonly name: string;
        readonly isModerator: boolean;
        readonly isMuted: boolean;
        readonly isVideoOff: boolean;
        /** Only in the message to the participant themselves. */
        readonly resumeToken?: string;
      }
    | { readonly type: 'waiting-room'; readonly name: string; readonly resumeToken?: string }
    | ({
        readonly type: 'participant-updated';
        readonly isModerator: boolean;
        readonly connection?: string;
      } & Flags)
    | { readonly type: 'participant-left' | 'raise-hand' | 'lower-hand' | 'room-locked' | 'room-unlocked' }
    | { readonly type: 'recording-started'; readonly startedBy: string }
    | { readonly type: 'recording-stopped'; readonly stoppedBy: string }
    | { readonly type: 'reaction'; readonly reaction: string }
    | { readonly type: 'moderator-action'; readonly targetId: string; readonly action: Action }
    | { readonly type: 'reject-user'; readonly reason: string }
    | { readonly type: 'error'; readonly code: string; readonly message: string }
    | Chat
    | Signal
    | FileMessage
  );
