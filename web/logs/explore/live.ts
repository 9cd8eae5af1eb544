/** The live tail: holds arrivals while the reader is elsewhere in the list or has paused, within a bound. */
import { batch, signal } from '@preact/signals';
import { type EventStream, openEventStream } from '../../shared/api/event-stream.js';
import { parseExact } from '../api/exact-json.js';
import { tailAddress } from '../api/queries.js';
import type { Entry } from '../contract.js';
import type { Filter } from '../query/filter.js';
import { authorization, CREDENTIALS, endSession } from '../session/session.js';
import { prepend } from './results.js';

/** Records held while paused. */
export const MAX_HELD = 2000;
/** Milliseconds in which arrivals are collected before they are shown. */
const GATHER_MS = 150;

export type LiveState = 'off' | 'connecting' | 'on' | 'lost';

export const liveState = signal<LiveState>('off');
/** Paused by the reader. */
export const isPaused = signal(false);
/** The list is scrolled to its newest record, so that arrivals do not move what is read. */
export const isAtNewest = signal(true);
/** Arrivals that are not shown yet, newest first. */
export const held = signal<readonly Entry[]>([]);
/** Arrivals that were dropped because too many were held. */
export const dropped = signal(0);
/** The service no longer had what was missed while the connection was lost. */
export const missedSome = signal(false);
/** Records shown since the tail was started. */
export const arrivedCount = signal(0);

let stream: EventStream | undefined;
let gathered: Entry[] = [];
let timer: ReturnType<typeof setTimeout> | undefined;

/** Follows records that match the filter, after a position. */
export function startLive(filter: Filter, after: string | undefined): void {
  stopLive();
  liveState.value = 'connecting';
  stream = openEventStream({
    url: () => tailAddress(filter),
    headers: authorization,
    credentials: CREDENTIALS,
    parse: parseExact,
    ...(after !== undefined && { after }),
    onMessage: (message) => receive(message as unknown as Entry | { readonly type: string }),
    onState: (isConnected) => {
      liveState.value = isConnected ? 'on' : 'lost';
    },
    onUnauthorized: () => endSession(authorization()),
  });
}

function receive(message: Entry | { readonly type: string }) {
  if ('type' in message && message.type === 'RESET') {
    missedSome.value = true;
    return;
  }
  gathered.push(message as Entry);
  timer ??= setTimeout(deliver, GATHER_MS);
}

/** Later arrivals first; within one delivery by time. */
const newestFirst = (a: Entry, b: Entry) => (a.timestamp < b.timestamp ? 1 : a.timestamp > b.timestamp ? -1 : 0);

function deliver() {
  timer = undefined;
  const arrived = gathered.sort(newestFirst);
  gathered = [];
  hold(arrived);
  if (!isPaused.value && isAtNewest.value) showHeld();
}

function hold(arrived: readonly Entry[]) {
  const all = [...arrived, ...held.value];
  batch(() => {
    held.value = all.slice(0, MAX_HELD);
    dropped.value += Math.max(0, all.length - MAX_HELD);
  });
}

/** Shows what has arrived. */
export function showHeld(): void {
  batch(() => {
    arrivedCount.value += prepend(held.value);
    held.value = [];
  });
}

export function setPaused(paused: boolean): void {
  isPaused.value = paused;
  if (!paused) showHeld();
}

export function stopLive(): void {
  stream?.close();
  stream = undefined;
  clearTimeout(timer);
  timer = undefined;
  gathered = [];
  batch(() => {
    liveState.value = 'off';
    isPaused.value = false;
    held.value = [];
    dropped.value = 0;
    missedSome.value = false;
    arrivedCount.value = 0;
  });
}
