/** Checks what clients send: messages per second, their cost, incomplete messages, and their schema, from a closed list of types. */
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { Reservation } from '../../../application/concurrency/index.js';
import type { Clock } from '../../../application/ports/index.js';
import type { DataOf, JsonSchema } from '../../../domain/shared/index.js';
import { type FieldError, messageValidator, type Validate } from '../../http/server/validate.js';

/** Schemas by `type`, of the other members. Members without a schema are ignored. */
export type MessageSchemas = { readonly [type: string]: JsonSchema };

export interface Message {
  readonly type: string;
  readonly [member: string]: unknown;
}

export type MessageOf<V extends MessageSchemas> = {
  readonly [type in keyof V & string]: { readonly type: type } & DataOf<V[type]>;
}[keyof V & string];

export type MessageError =
  /** Not a JSON object, or `type` is not a string. */
  | { readonly why: 'unreadable' }
  | { readonly why: 'unknown-type'; readonly type: string }
  | { readonly why: 'wrong'; readonly type: string; readonly error: FieldError }
  /** Over the rate limit, or the server is overloaded. */
  | { readonly why: 'too-many' };

export type Read = (text: string) => { readonly message: Message } | MessageError;

export function createReader(vocabulary: MessageSchemas): Read {
  const checks = new Map<string, Validate>(
    Object.entries(vocabulary).map(([type, { properties, required = [], ...more }]) => {
      const members = { ...(properties as object), type: { const: type } };
      const requiredNames = [...(required as readonly string[]), 'type'];
      return [type, messageValidator({ type: 'object', ...more, properties: members, required: requiredNames })];
    }),
  );
  return (text) => {
    const message = parseMessage(text);
    if (!message) return { why: 'unreadable' };
    const { type } = message;
    const check = checks.get(type);
    if (!check) return { why: 'unknown-type', type };
    const error = check(message);
    return error ? { why: 'wrong', type, error } : { message };
  };
}

function parseMessage(text: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isMessage = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isMessage && typeof (value as Message).type === 'string' ? (value as Message) : undefined;
  } catch {
    return undefined;
  }
}

/** Shorter pauses are ignored: they hardly move messages to another second. */
const MIN_PAUSE_MS = 100;
/** Longest pause that counts. The sender was not read during a longer one. */
const MAX_PAUSE_MS = 10_000;

export function createRate(perSecond: number, clock: Clock) {
  let [since, count, previousCount, credit] = [clock.now(), 0, 0, 0];
  return {
    /** Counts a message. `first`: over the limit in this second. `again`: also in the one before, or twice over it. */
    next(): false | 'first' | 'again' {
      const seconds = Math.floor((clock.now() - since) / 1000);
      if (seconds > 0) [since, previousCount, count] = [since + seconds * 1000, seconds === 1 ? count : 0, 0];
      if (count >= perSecond && credit >= 1) {
        credit--;
        return false;
      }
      count++;
      if (count <= perSecond) return false;
      return previousCount > perSecond || count > 2 * perSecond ? 'again' : 'first';
    },
    /** Reports that messages were held up for some ms, so that they do not count for the second after. */
    held(ms: number) {
      if (ms < MIN_PAUSE_MS) return;
      credit = Math.min(credit + (perSecond * ms) / 1000, (perSecond * MAX_PAUSE_MS) / 1000);
    },
  };
}

/** Maximum values in a message: 60,000 of them, in 650 KB, block the event loop for 170 ms. */
const MAX_VALUES = 4096;
/** Bytes of text that cost as much as one value. */
const VALUE_BYTES = 256;
/** Characters that precede a value: `,`, `[`, `{`. */
const VALUE_STARTS = [0x2c, 0x5b, 0x7b];

/** Returns the cost in equivalent bytes of text; undefined if the message must not be parsed. */
export function messageCost(message: Buffer): number | undefined {
  let values = 0;
  for (const character of VALUE_STARTS)
    for (let at = message.indexOf(character); at >= 0; at = message.indexOf(character, at + 1))
      if (++values > MAX_VALUES) return undefined;
  return message.length + values * VALUE_BYTES;
}

/** Message cost handled per tick of the event loop: some tens of milliseconds of work. */
const COST_PER_TICK = 1024 * 1024;

let usedCost = 0;
const waiting: { readonly cost: number; readonly start: () => void }[] = [];

/** Reserves a slot for a message of this cost. Undefined if it may be handled now; else resolves when it may. */
export function waitForSlot(cost: number): Promise<void> | undefined {
  usedCost += cost;
  if (waiting.length === 0 && usedCost <= COST_PER_TICK) return undefined;
  return new Promise((start) => {
    if (waiting.push({ cost, start }) === 1) setImmediate(startWaiting);
  });
}

/** Starts the next waiting messages. A connection with several messages queues again for each. */
function startWaiting() {
  usedCost = 0;
  do {
    const { cost, start } = waiting.shift()!;
    usedCost += cost;
    start();
  } while (waiting[0] && usedCost + waiting[0].cost <= COST_PER_TICK);
  if (waiting[0]) setImmediate(startWaiting);
}

/** Bytes per incomplete message that are not counted; hardly any message is larger. */
const FREE_BYTES = 16 * 1024;
/** Overhead of a control frame: mask and length. */
const CONTROL_BYTES = 6;

/** Calls back once when there is no room for the rest of an incomplete message. */
export function trackIncompleteMessages(
  socket: WebSocket,
  network: Duplex,
  bytes: Pick<Reservation, 'acquire' | 'giveBack'>,
  onShortage: () => void,
): void {
  let [received, reserved] = [0, 0];

  const updateReservation = (bytesNow: number) => {
    received = Math.max(0, bytesNow);
    const required = Math.max(0, received - FREE_BYTES);
    if (required < reserved) bytes.giveBack(reserved - required);
    else if (required > reserved && bytes.acquire(required - reserved)) {
      network.off('data', onData);
      return onShortage();
    }
    reserved = required;
  };
  const onData = (chunk: Buffer) => updateReservation(received + chunk.length);
  const onControl = (data: Buffer) => updateReservation(received - data.length - CONTROL_BYTES);

  // Before the WebSocket's own listener.
  network.prependListener('data', onData);
  // The start of the next message in the same chunk is nearly always below the free size.
  socket.on('message', () => updateReservation(0));
  socket.on('ping', onControl).on('pong', onControl);
  socket.once('close', () => updateReservation(0));
}
