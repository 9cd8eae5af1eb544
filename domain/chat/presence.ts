/** Presence of a user: from open streams, or set by hand. Stream `chat.presence-<userId>`. */
import { type Decider, decideByType, type Evolve } from '../shared/index.js';
import type { ChatEvent } from './catalog.js';

export type PresenceEvent = ChatEvent<'PresenceChanged'>;
export type Status = PresenceEvent['data']['status'];

/** Milliseconds after the last stream closes until the user is offline; covers page reloads. */
export const GRACE_MS = 10_000;

export type PresenceState = Pick<PresenceEvent['data'], 'status' | 'isByHand' | 'runs' | 'lastSeen'>;

interface About {
  readonly userId: string;
  readonly now: number;
}

export type PresenceCommand = About &
  (
    | { type: 'SetStatus'; status: Status }
    /** First stream opened, or last one closed, at a node run. */
    | { type: 'Connect' | 'Disconnect'; run: string }
  );

export const presenceStream = (userId: string): string => `chat.presence-${userId}`;

const initialState: PresenceState = { status: 'offline', isByHand: false, runs: [], lastSeen: 0 };

function presenceChanged(
  { userId, now }: About,
  state: PresenceState,
  change: Partial<Pick<PresenceState, 'status' | 'isByHand' | 'runs'>>,
): readonly PresenceEvent[] {
  const { status, isByHand, runs } = { ...state, ...change };
  const { status: former } = state;
  const lastSeen = status === former && state.lastSeen > 0 ? state.lastSeen : now;
  return [{ type: 'PresenceChanged', data: { userId, status, former, isByHand, runs, changedAt: now, lastSeen } }];
}

/** A status set by hand stays until it is changed or the last stream closes. */
const decide = decideByType<PresenceState, PresenceCommand, PresenceEvent>({
  SetStatus(command, state) {
    const { status } = command;
    return state.isByHand && status === state.status ? [] : presenceChanged(command, state, { status, isByHand: true });
  },
  Connect(command, state) {
    if (state.runs.includes(command.run)) return [];
    const status = state.isByHand ? state.status : 'online';
    return presenceChanged(command, state, { status, runs: [...state.runs, command.run] });
  },
  Disconnect(command, state) {
    if (!state.runs.includes(command.run)) return [];
    const runs = state.runs.filter((each) => each !== command.run);
    const offline = runs.length === 0 ? ({ status: 'offline', isByHand: false } as const) : {};
    return presenceChanged(command, state, { ...offline, runs });
  },
});

const evolve: Evolve<PresenceState, PresenceEvent> = {
  PresenceChanged: (_, { status, isByHand, runs, lastSeen }) => ({ status, isByHand, runs, lastSeen }),
};

export const presence: Decider<PresenceState, PresenceCommand, PresenceEvent> = {
  initialState,
  decide,
  evolve,
};
