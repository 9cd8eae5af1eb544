/** People in meetings, as the bench has them: many sockets that join, talk to their rooms, and measure how long it takes. */
import { once } from 'node:events';
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';

export interface Attendee {
  readonly socket: WebSocket;
  readonly roomId: string;
  /** As the service told. */
  id: string;
}

export interface Joined {
  readonly people: readonly Attendee[];
  /** Who was not let in, by code. */
  readonly refused: readonly string[];
  readonly perSecond: number;
  /** From asking to being in, µs. */
  readonly took: RecordableHistogram;
}

const letter = (n: number) => 'ABCDEFGHJKMNPQRSTUVWXYZ23456789'[n % 31];
export const roomIdOf = (prefix: string, n: number): string =>
  `${prefix}${letter(Math.floor(n / 961))}${letter(Math.floor(n / 31))}${letter(n)}`;

let addresses = 0;

/** Each from an address of its own, as a trusted proxy says, so that limits by address are none here. */
export async function connect(url: string, count: number): Promise<WebSocket[]> {
  const sockets: WebSocket[] = [];
  const open = async () => {
    while (addresses < last) {
      const n = addresses++;
      const address = `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
      const socket = new WebSocket(`${url}/ws`, {
        headers: { 'x-forwarded-for': address },
        perMessageDeflate: false,
      });
      await once(socket, 'open');
      sockets.push(socket);
    }
  };
  const last = addresses + count;
  await Promise.all(Array.from({ length: 50 }, open));
  return sockets;
}

/** Each socket joins the room that `roomOf` says, so many a second or as fast as they are answered. */
export async function join(
  sockets: readonly WebSocket[],
  roomOf: (n: number) => string,
  perSecond = Number.POSITIVE_INFINITY,
): Promise<Joined> {
  const took = createHistogram();
  const people: Attendee[] = [];
  const refused: string[] = [];
  const started = performance.now();
  const answers = sockets.map(async (socket, n) => {
    const dueMs = (1000 * n) / perSecond;
    if (dueMs > 0) await delay(started + dueMs - performance.now());
    const roomId = roomOf(n);
    const asked = performance.now();
    const answer = once(socket, 'message');
    socket.send(
      JSON.stringify({
        type: 'join',
        roomId,
        participantId: '',
        timestamp: 0,
        name: `Person ${n}`,
        isHost: true,
      }),
    );
    const closed = once(socket, 'close').then(([code]) => [JSON.stringify({ code: `closed ${code}` })]);
    const [data] = await Promise.race([answer, closed]);
    const { type, participantId, code } = JSON.parse(String(data));
    if (type !== 'participant-joined') return void refused.push(code ?? type);
    took.record(microseconds(asked));
    people.push({ socket, roomId, id: participantId });
  });
  await Promise.all(answers);
  return { people, refused, took, perSecond: people.length / ((performance.now() - started) / 1000) };
}

export interface Talk {
  readonly said: number;
  readonly delivered: number;
  readonly lost: number;
  /** Sockets that the service closed. */
  readonly cut: number;
  /** From being said to being heard, µs. */
  readonly chat: RecordableHistogram;
  readonly candidates: RecordableHistogram;
}

/** Half of what each says is chat, for the whole room, half are candidates for one of it. */
export async function talk(
  people: readonly Attendee[],
  { perSecond, seconds }: { readonly perSecond: number; readonly seconds: number },
): Promise<Talk> {
  const rooms = byRoom(people);
  const [chat, candidates] = [createHistogram(), createHistogram()];
  let delivered = 0;
  let expected = 0;
  const hear = (data: Buffer) => {
    const said = saidAt(data);
    if (said === undefined) return;
    delivered++;
    (data.includes('"chat"') ? chat : candidates).record(microseconds(said));
  };
  for (const { socket } of people) socket.on('message', hear);

  const total = Math.round(people.length * perSecond * seconds);
  const started = performance.now();
  for (let said = 0; said < total; said++) {
    const due = started + (1000 * said) / (people.length * perSecond);
    if (performance.now() < due) await delay(Math.max(1, due - performance.now()));
    const round = Math.floor(said / people.length);
    const from = people[said % people.length]!;
    const room = rooms.get(from.roomId)!;
    // The two kinds by turns, and both at any time.
    const isChat = (said + round) % 2 === 0;
    expected += isChat ? room.length : 1;
    const to = room[(room.indexOf(from) + 1) % room.length]!;
    from.socket.send(isChat ? chatOf(from) : candidateOf(from, to));
  }
  await settled(() => delivered, expected);
  for (const { socket } of people) socket.off('message', hear);
  const cut = people.filter(({ socket }) => socket.readyState !== WebSocket.OPEN).length;
  return { said: total, delivered, lost: expected - delivered, cut, chat, candidates };
}

export function byRoom(people: readonly Attendee[]): ReadonlyMap<string, readonly Attendee[]> {
  const rooms = new Map<string, Attendee[]>();
  for (const each of people) {
    const room = rooms.get(each.roomId);
    if (room) room.push(each);
    else rooms.set(each.roomId, [each]);
  }
  return rooms;
}

const FILLER = 'what people say to each other in a meeting, in a sentence of usual length';

const base = ({ roomId, id }: Attendee) => ({ roomId, participantId: id, timestamp: Date.now() });
const now = () => `at=${performance.now().toFixed(3)};`;
const chatOf = (from: Attendee) => JSON.stringify({ type: 'chat', ...base(from), text: `${now()} ${FILLER}` });
const candidateOf = (from: Attendee, { id: targetId }: Attendee) =>
  JSON.stringify({
    type: 'ice-candidate',
    ...base(from),
    targetId,
    candidate: {
      candidate: `candidate:1 1 udp 2113937151 192.0.2.1 54400 typ host generation 0 ${now()}`,
      sdpMid: '0',
      sdpMLineIndex: 0,
    },
  });

/** When it was said, if it was said here. */
function saidAt(data: Buffer): number | undefined {
  const from = data.indexOf('at=');
  return from < 0 ? undefined : Number(data.toString('latin1', from + 3, data.indexOf(';', from)));
}

/** Until all has arrived, or nothing more does for 5 s. */
export async function settled(arrived: () => number, expected: number): Promise<void> {
  let [before, quiet] = [-1, 0];
  while (arrived() < expected && quiet < 50) {
    await delay(100);
    quiet = arrived() === before ? quiet + 1 : 0;
    before = arrived();
  }
}

export const microseconds = (since: number) => Math.max(1, Math.round(1000 * (performance.now() - since)));

/** Resolves when all of them are closed. */
export async function leave(sockets: readonly WebSocket[]): Promise<void> {
  const open = sockets.filter(({ readyState }) => readyState !== WebSocket.CLOSED);
  const closed = open.map((socket) => once(socket, 'close'));
  for (const socket of open) socket.close(1000);
  await Promise.all(closed);
}
