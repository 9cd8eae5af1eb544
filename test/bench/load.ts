/** The load that benchmarks put on rooms: participants with their own rooms, and their requests. */
import { randomBytes } from 'node:crypto';
import autocannon from 'autocannon';

const text = (bytes: number) => randomBytes(bytes).toString('base64url');
export const signingPublicKey = { kty: 'EC', crv: 'P-256', x: text(32), y: text(32) };
export const envelope = () =>
  JSON.stringify({
    keyVersion: 1,
    chainId: text(16),
    messageIndex: 1,
    chainKeyNonce: text(12),
    chainKeyCiphertext: text(48),
    nonce: text(12),
    ciphertext: text(200),
    signature: text(64),
  });

export interface Person {
  readonly roomId: string;
  readonly sessionToken: string;
}

async function call(base: string, path: string, body: object, token?: string) {
  const answer = await fetch(base + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Person;
}

/** Creates many rooms, because one participant may post only 40 messages a minute. */
export async function makeRooms(base: string, count: number): Promise<Person[]> {
  const people: Person[] = [];
  const make = async () => {
    while (people.length < count) people.push(await call(base, '/rooms', { signingPublicKey }));
  };
  await Promise.all(Array.from({ length: 32 }, make));
  return people;
}

/** Creates a room in which two participants have posted alternately; resolves with the host. */
export async function roomWithMessages(base: string, messages: number): Promise<Person> {
  const host = await call(base, '/rooms', { signingPublicKey });
  const inviteToken = text(16);
  await call(base, `/rooms/${host.roomId}/invites`, { inviteToken }, host.sessionToken);
  const guest = await call(base, `/rooms/${host.roomId}/join`, { inviteToken, signingPublicKey });
  for (let index = 0; index < messages; index++) {
    const { sessionToken } = index % 2 ? guest : host;
    await call(base, `/rooms/${host.roomId}/messages`, JSON.parse(envelope()), sessionToken);
  }
  return host;
}

const bearer = (person: Person) => ({
  'content-type': 'application/json',
  authorization: `Bearer ${person.sessionToken}`,
});

export type Request = {
  method: 'GET' | 'POST';
  path: string;
  headers?: { [name: string]: string };
  body?: string;
};

/** Posts as each of the people, round-robin. */
export function posts(people: readonly Person[]): () => Request {
  let index = 0;
  return () => {
    const person = people[index++ % people.length]!;
    return {
      method: 'POST',
      path: `/rooms/${person.roomId}/messages`,
      headers: bearer(person),
      body: envelope(),
    };
  };
}

export const reads = (person: Person) => (): Request => ({
  method: 'GET',
  path: `/rooms/${person.roomId}/state`,
  headers: bearer(person),
});

/** Sends requests over 32 connections (unless given) for a duration in seconds or a number of requests. */
export async function load(
  url: string,
  amount: { duration?: number; amount?: number; connections?: number },
  next: () => Request,
) {
  const result = await autocannon({
    url,
    connections: 32,
    ...amount,
    requests: [{ setupRequest: (request) => ({ ...request, ...next() }) }],
  });
  const perSecond = Math.round(result['2xx'] / result.duration);
  const bad = result.non2xx + result.errors;
  return {
    done: result['2xx'],
    bad,
    perSecond,
    p99: result.latency.p99,
    text: `${perSecond}/s, p50 ${result.latency.p50} ms, p99 ${result.latency.p99} ms${bad ? `, ${bad} NOT 2xx` : ''}`,
  };
}
