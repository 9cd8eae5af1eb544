/** People in meetings over real sockets: what each of them hears, in order, and nothing else. */
import { once } from 'node:events';
import { eventually } from '@annals/engines/testing/condition.js';
import { WebSocket } from 'ws';

export interface Heard {
  readonly type: string;
  readonly [member: string]: unknown;
}

export interface Person {
  readonly socket: WebSocket;
  /** All that it was told, in order. */
  readonly heard: readonly Heard[];
  /** Who they are, once they have joined or wait. */
  readonly id: string;
  readonly resumeToken: string;
  say(type: string, more?: object): void;
  /** The first message that is so, among all there ever were. */
  hears(is: string | ((message: Heard) => boolean)): Promise<Heard>;
  /** Resolves when all that they have said was answered, and they have heard all that they were told by then. */
  answered(): Promise<void>;
  /** What they have heard since this was asked last, without times and tokens. */
  news(): readonly Heard[];
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
}

/** Answered with an error of its own, in its turn. */
const MARK = 'mark';
const BARRIER = '-- the next --';

/** What is told of somebody who has come in. */
export const joinedIn = (roomId: string, of: Person, name: string, isModerator: boolean): Heard => ({
  type: 'participant-joined',
  roomId,
  participantId: of.id,
  name,
  isModerator,
  isMuted: false,
  isVideoOff: false,
});

/** A socket of nobody yet; `from`: the address they come from. */
export async function open(base: string, from = '203.0.113.1'): Promise<Person> {
  const socket = new WebSocket(`${base.replace('http', 'ws')}/ws`, {
    headers: { 'X-Forwarded-For': from },
    // What is told at once is heard at once.
    allowSynchronousEvents: true,
  });
  const person = personOn(socket);
  await once(socket, 'open');
  return person;
}

function personOn(socket: WebSocket): Person {
  const heard: Heard[] = [];
  const own = () =>
    heard.findLast(({ type, resumeToken }) => resumeToken !== undefined && type !== 'error') ?? { type: '' };
  let [seen, marks] = [0, 0];
  socket.on('message', (data) => heard.push(JSON.parse(String(data))));
  socket.on('error', () => {});
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.once('close', (code, reason) => resolve({ code, reason: String(reason) }));
  });
  const isMark = ({ code }: Heard) => code === 'UNKNOWN_MESSAGE_TYPE';
  const person: Person = {
    socket,
    heard,
    closed,
    get id() {
      return String(own().participantId);
    },
    get resumeToken() {
      return String(own().resumeToken);
    },
    say: (type, more = {}) =>
      socket.send(JSON.stringify({ type, roomId: '', participantId: '', timestamp: 1, ...more })),
    hears: (is) => {
      const isIt = typeof is === 'string' ? ({ type }: Heard) => type === is : is;
      return eventually(() => heard.find(isIt));
    },
    async answered() {
      if (socket.readyState !== WebSocket.OPEN) return;
      marks++;
      person.say(MARK);
      await Promise.race([closed, eventually(() => heard.filter(isMark).length >= marks)]);
    },
    news() {
      const news = heard.slice(seen).filter((each) => !isMark(each) && each.text !== BARRIER);
      seen = heard.length;
      return news.map(({ timestamp: _, resumeToken: __, ...rest }) => rest as Heard);
    },
  };
  return person;
}

/** Comes into a room: inside, or waiting, or refused, on a socket of their own. */
export async function come(base: string, roomId: string, name: string, more: object = {}, from?: string) {
  const person = await open(base, from);
  person.say('join', { roomId, name, ...more });
  await person.answered();
  return person;
}

/**
 * What each of these hears when something is done, and nothing that they heard before. `inside` is somebody who is
 * still in the room after it: what they say then comes after all of it.
 */
export async function told<Names extends string>(
  people: { readonly [name in Names]: Person },
  inside: Person,
  act: () => Promise<unknown> | unknown,
): Promise<{ [name in Names]?: readonly Heard[] }> {
  const all: readonly [Names, Person][] = Object.entries(people) as never;
  const every = (look: (person: Person) => Promise<void>) => Promise.all(all.map(([, person]) => look(person)));
  await projectionProgress(inside);
  await every((person) => person.answered());
  for (const [, person] of all) person.news();
  await act();
  await every((person) => person.answered());
  await projectionProgress(inside);
  await every((person) => person.answered());
  const heard = all.map(([name, person]) => [name, person.news()] as const);
  return Object.fromEntries(heard.filter(([, news]) => news.length > 0)) as never;
}

async function projectionProgress(person: Person): Promise<void> {
  const before = person.heard.length;
  person.say('chat', { text: BARRIER });
  await eventually(() => person.heard.slice(before).some(({ text }) => text === BARRIER));
}

/** How many are in meetings, as that node tells. */
export const peopleAt = async (base: string): Promise<number> =>
  ((await (await fetch(`${base}/health`)).json()) as { totalParticipants: number }).totalParticipants;
