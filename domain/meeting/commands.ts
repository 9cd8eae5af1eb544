/** Commands of a meeting room. */
import type { Connected } from './state.js';

export interface RoomTerms {
  readonly meetingId: string;
  readonly maxParticipants: number;
  readonly passwordHash?: string | undefined;
  /** Milliseconds a disconnected participant keeps their place. */
  readonly returnMs?: number | undefined;
}

type AccessCommand =
  | ({
      readonly type: 'OpenRoom';
      readonly creatorHash: string;
      /** Keyed digest of the creator's network. */
      readonly caller?: string | undefined;
      readonly title?: string | undefined;
      readonly scheduledStart?: number | undefined;
      readonly scheduledEnd?: number | undefined;
    } & RoomTerms)
  | ({
      readonly type: 'JoinRoom';
      readonly participantId: string;
      readonly name: string;
      /** Keyed digest of the person's network and folded name. */
      readonly caller: string;
      /** The earlier participant they proved to be. */
      readonly formerId?: string | undefined;
      /** Terms of the room a host opens by joining, if none exists. */
      readonly opening?: RoomTerms | undefined;
      /** The stored hash that the given password was verified against. */
      readonly verifiedPasswordHash?: string | undefined;
      readonly creatorHash?: string | undefined;
    } & Connected)
  /** Moves a participant to another socket. */
  | ({ readonly type: 'ReturnToRoom'; readonly participantId: string } & Connected);

type DepartureCommand =
  | {
      readonly type: 'LeaveRoom';
      readonly participantId: string;
      /** The closed socket; ignored if the participant has moved to another one. */
      readonly seat: string;
      /** They were disconnected and did not return in time. */
      readonly hasTimedOut?: boolean | undefined;
    }
  /**
   * Marks a connection, or all connections of a node, as lost: they ended without a close frame. The participants
   * keep their places for a while.
   */
  | { readonly type: 'LoseConnection'; readonly where: { readonly seat: string } | { readonly node: string } }
  /** Removes the people of a dead node who did not return in time. */
  | { readonly type: 'RemovePeopleOfNode'; readonly node: string }
  | { readonly type: 'EndRoom' }
  | { readonly type: 'EraseMeeting'; readonly meetingId: string };

type OwnAction =
  | {
      readonly type: 'UpdateOneself';
      /** Omitted flags stay unchanged. */
      readonly isMuted?: boolean | undefined;
      readonly isVideoOff?: boolean | undefined;
      readonly isHandRaised?: boolean | undefined;
    }
  | { readonly type: 'RaiseHand' | 'LowerHand' };

type ModeratorAction =
  | { readonly type: 'LockRoom' | 'UnlockRoom' | 'StartRecording' | 'StopRecording' }
  | { readonly type: 'AdmitUser'; readonly participantId: string }
  | { readonly type: 'RejectUser'; readonly participantId: string; readonly reason: string }
  | {
      readonly type: 'MuteParticipant' | 'UnmuteParticipant' | 'KickParticipant' | 'PromoteParticipant';
      readonly participantId: string;
    };

/** `now`: Unix ms. */
export type RoomCommand = { readonly roomId: string; readonly now: number } & (
  | AccessCommand
  | DepartureCommand
  | ({ readonly by: string } & (OwnAction | ModeratorAction))
);

/** Commands of the given types. */
export type Command<Type extends RoomCommand['type']> = Extract<RoomCommand, { readonly type: Type }>;

export type ModeratorCommand = Command<ModeratorAction['type']>;
export type ParticipantCommand = Command<OwnAction['type']> | ModeratorCommand;
