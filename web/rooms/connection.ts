/** The connection of a participant to a room: its state, then its events; both again whenever the service says so. */
import { signal } from '@preact/signals';
import { type EventStream, openEventStream } from '../shared/api/event-stream.js';
import { bearer, endingOf, eventsUrl, type RoomApi } from './api.js';
import type { Participant, RoomEvent, RoomState, StoredMessage } from './contract.js';

export type Ending = 'burned' | 'expired' | 'unauthorized';

interface ConnectionOptions {
  readonly roomId: string;
  readonly token: string;
  readonly api: RoomApi;
  /** `serverTime` in ms. */
  readonly onState: (state: RoomState, serverTime: number | undefined) => void;
  /** The state of a room whose events may not have come yet. */
  readonly onMissed: (state: RoomState) => Promise<unknown>;
  readonly onMessage: (message: StoredMessage) => void;
  readonly onJoined: (participant: Participant) => void;
  readonly onConnected: () => void;
  /** Called once. `gone`: the room does not exist any more. */
  readonly onEnd: (ending: Ending | 'gone') => void;
}

export type ConnectionState = 'connecting' | 'connected' | 'lost';

const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [1000, 15_000];

export function connect({
  roomId,
  token,
  api,
  onState,
  onMissed,
  onMessage,
  onJoined,
  onConnected,
  onEnd,
}: ConnectionOptions) {
  const state = signal<ConnectionState>('connecting');
  let stream: EventStream | undefined;
  let isClosed = false;
  let isBehind = false;
  state.subscribe((now) => {
    if (now === 'lost') isBehind = true;
  });
  let wake = () => {};

  function close() {
    isClosed = true;
    stream?.close();
    wake();
    removeEventListener('online', onOnline);
  }

  function end(ending: Ending | 'gone') {
    if (isClosed) return;
    close();
    onEnd(ending);
  }

  const onOnline = () => wake();
  addEventListener('online', onOnline);

  const rest = (ms: number) =>
    new Promise<void>((resolve) => {
      wake = resolve;
      setTimeout(resolve, ms);
    });

  /** Asks the service itself: a proxy may have refused the stream. */
  async function startLater() {
    await rest(FIRST_PAUSE_MS);
    if (!isClosed) await start();
  }

  /** Reads the state, then follows the events after it. */
  async function start() {
    stream?.close();
    let pause = FIRST_PAUSE_MS;
    while (!isClosed) {
      try {
        const { state: room, cursor, serverTime } = await api.state();
        if (isClosed) return;
        onState(room, serverTime);
        return follow(cursor);
      } catch (error) {
        const ending = endingOf(error);
        if (ending) return end(ending);
        state.value = 'lost';
        await rest(pause);
        pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
      }
    }
  }

  function follow(cursor: string | undefined) {
    stream = openEventStream({
      url: () => eventsUrl(roomId),
      headers: () => bearer(token),
      ...(cursor !== undefined && { after: cursor }),
      onMessage: (message) => onEvent(message as unknown as RoomEvent),
      onState: (isConnected) => {
        if (isClosed) return;
        state.value = isConnected ? 'connected' : 'lost';
        if (isConnected) onConnected();
      },
      onUnauthorized: async () => {
        void startLater();
        return false;
      },
      onNotFound: () => void startLater(),
    });
  }

  /** After a lost connection, events may be missing for a while, a changed room key among them; reads what there is. */
  async function catchUp({ always }: { readonly always: boolean }): Promise<void> {
    if (!isBehind && !always) return;
    isBehind = state.peek() !== 'connected';
    try {
      await onMissed((await api.state()).state);
    } catch (error) {
      isBehind = true;
      throw error;
    }
  }

  function onEvent(event: RoomEvent) {
    switch (event.type) {
      case 'NEW_MESSAGE':
        return onMessage(event.payload);
      case 'PARTICIPANT_JOINED':
        return onJoined(event.payload);
      case 'ROOM_BURNED':
        return end('burned');
      case 'ROOM_EXPIRED':
        return end('expired');
      case 'RESET':
        void start();
    }
  }

  void start();
  return { state, catchUp, close };
}
