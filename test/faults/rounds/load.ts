/**
 * Load on all five services with a ledger: each client repeats a request on any node until it is answered, as a client
 * with an `Idempotency-Key` does, and knows afterwards what must be stored exactly once.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '@annals/engines/testing/condition.js';
import { FIREFOX } from '../../support/analytics-node.js';
import { type Answered, ask, type RequestOptions } from '../../support/http-spec.js';
import { logClient } from '../../support/log-client.js';
import { enterRoom, type Person } from '../../support/meeting-client.js';
import { envelope, newSigner, random, text } from '../../support/room-fixtures.js';
import { run } from '../../support/server-process.js';
import { ANSWER_MS, followEvents, untilAnswered } from './client.js';
import type { Installation } from './installation.js';

export interface Load {
  /** Runs until the signal aborts and the last request is answered. */
  run(stop: AbortSignal): Promise<void>;
  /** Number of acknowledged writes. */
  acknowledged(): number;
  /** Compares what each node shows with the ledger; returns what is lost, or there twice, or was never written. */
  violations(): Promise<readonly string[]>;
}

const ADMIN = 'an-admin-token-for-tests';
const PAUSE_MS = 30;
/** How long read models may take to catch up after a fault. */
const catchUp = () => AbortSignal.timeout(60_000);

async function post(at: Installation, service: string, path: string, options: RequestOptions): Promise<Answered> {
  const headers = { 'idempotency-key': randomUUID(), ...options.headers };
  const answer = await untilAnswered(at, service, (base) => ask(base, 'POST', path, { ...options, headers }));
  if (answer.status >= 300) throw new Error(`${service} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer;
}

async function repeat(stop: AbortSignal, action: () => Promise<unknown>): Promise<void> {
  while (!stop.aborted) {
    await action();
    await sleep(PAUSE_MS);
  }
}

/** Describes how the ledger and what is stored differ; each must be there once. */
function differences(what: string, ledger: readonly string[], found: readonly string[], maybe = new Set<string>()) {
  const counts = new Map<string, number>();
  for (const each of found) counts.set(each, (counts.get(each) ?? 0) + 1);
  const known = new Set(ledger);
  const lost = ledger.filter((each) => !counts.has(each));
  const twice = [...counts].filter(([, count]) => count > 1);
  const unknown = [...counts.keys()].filter((each) => !known.has(each) && !maybe.has(each));
  return [
    ...(lost.length > 0 ? [`${what}: ${lost.length} of ${ledger.length} lost, for example ${lost[0]}`] : []),
    ...(twice.length > 0 ? [`${what}: ${twice.length} more than once, for example ${twice[0]}`] : []),
    ...(unknown.length > 0 ? [`${what}: ${unknown.length} that nobody wrote, for example ${unknown[0]}`] : []),
  ];
}

/** A node's clock may be wrong by hours. */
const timeIn = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();

/** Asks every node until it shows no difference, or time is up. */
async function onEveryNode(at: Installation, service: string, look: (base: string) => Promise<readonly string[]>) {
  const found: string[] = [];
  for (const base of at.urls(service)) {
    let last: readonly string[] = [`${service}: no answer`];
    await eventually(async () => {
      last = await look(base).catch((error) => [`${service}: ${error}`]);
      return last.length === 0;
    }, catchUp()).catch(() => found.push(...last));
  }
  return found;
}

export async function chatLoad(at: Installation): Promise<Load> {
  const login = await post(at, 'chat', '/auth/dev-login', { body: { email: 'ada@example.org' } });
  const token: string = login.body.token;
  const created = await post(at, 'chat', '/channels', { token, body: { name: `round ${randomUUID()}` } });
  const channelId: string = created.body.channel.id;
  const path = `/channels/${channelId}/messages`;
  const ledger = new Map<string, string>();
  const events = followEvents(at, token);
  // From its first id on the stream must not miss a message.
  await eventually(() => events.cursor() !== undefined);
  const received = () =>
    events.frames.flatMap(({ type, payload }) =>
      type === 'NEW_MESSAGE' && payload.channelId === channelId ? [payload.id as string] : [],
    );
  return {
    async run(stop) {
      await repeat(stop, async () => {
        const content = randomUUID();
        const { body } = await post(at, 'chat', path, { token, body: { content } });
        ledger.set(content, body.message.id);
      });
    },
    acknowledged: () => ledger.size,
    async violations() {
      const contents = [...ledger.keys()];
      const found = await onEveryNode(at, 'chat', async (base) => {
        const messages: { id: string; content: string }[] = [];
        for (;;) {
          const before = messages[0] ? `&before=${messages[0].id}` : '';
          const page = await ask(base, 'GET', `${path}?limit=100${before}`, { token });
          if (page.status !== 200) return [`chat: ${page.status} for a page`];
          if (page.body.messages.length === 0) break;
          messages.unshift(...page.body.messages);
        }
        return differences(
          'chat',
          contents,
          messages.map(({ content }) => content),
        );
      });
      const ids = [...ledger.values()];
      await eventually(() => received().length >= ids.length, catchUp()).catch(() => {});
      await events.close();
      if (events.frames.some(({ type }) => type === 'RESET')) return [...found, 'chat stream: RESET'];
      return [...found, ...differences('chat stream', ids, received())];
    },
  };
}

export async function roomsLoad(at: Installation): Promise<Load> {
  const { publicKey: signingPublicKey } = await newSigner();
  const entered = await post(at, 'rooms', '/rooms', { body: { participantName: 'Ada', signingPublicKey } });
  const { roomId, sessionToken: token } = entered.body;
  const ledger: string[] = [];
  return {
    run: (stop) =>
      repeat(stop, async () => {
        const nonce = text(random(12));
        const chainId = text(random(16));
        await post(at, 'rooms', `/rooms/${roomId}/messages`, { token, body: { ...envelope, chainId, nonce } });
        ledger.push(nonce);
      }),
    acknowledged: () => ledger.length,
    violations: () =>
      onEveryNode(at, 'rooms', async (base) => {
        const { body } = await ask(base, 'GET', `/rooms/${roomId}/state`, { token });
        const nonces = (body.messages ?? []).map(({ nonce }: { nonce: string }) => nonce);
        return differences('rooms', ledger, nonces);
      }),
  };
}

export async function logsLoad(at: Installation): Promise<Load> {
  const event = `round-${randomUUID()}`;
  const ledger: string[] = [];
  return {
    run: (stop) =>
      repeat(stop, async () => {
        const messages = Array.from({ length: 5 }, () => randomUUID());
        const body = messages.map((message) => JSON.stringify({ event, message })).join('\n');
        const headers = { 'content-type': 'application/x-ndjson' };
        await post(at, 'logs', '/api/ingest', { body, headers });
        ledger.push(...messages);
      }),
    acknowledged: () => ledger.length,
    violations: () =>
      onEveryNode(at, 'logs', async (base) => {
        const [from, to] = [timeIn(-2), timeIn(1)];
        const entries = await logClient(base).all(`event=${event}&from=${from}&to=${to}`);
        return differences(
          'logs',
          ledger,
          entries.map(({ message }) => String(message)),
        );
      }),
  };
}

export async function analyticsLoad(at: Installation): Promise<Load> {
  const site = `s-${randomUUID()}`;
  await post(at, 'analytics', '/api/sites', { token: ADMIN, body: { id: site, domains: ['example.com'] } });
  let hits = 0;
  const headers = { origin: 'https://example.com', 'user-agent': FIREFOX };
  return {
    run: (stop) =>
      repeat(stop, async () => {
        const body = { site, host: 'example.com', path: '/' };
        const answer = await post(at, 'analytics', '/api/collect', { body, headers });
        if (answer.body.accepted !== true) throw new Error(`hit refused: ${JSON.stringify(answer.body)}`);
        hits++;
      }),
    acknowledged: () => hits,
    violations: () =>
      onEveryNode(at, 'analytics', async (base) => {
        const query = `site=${site}&start=${timeIn(-1).slice(0, 10)}&end=${timeIn(1).slice(0, 10)}`;
        const { body } = await ask(base, 'GET', `/api/report?${query}`, { token: ADMIN });
        const counted = body.totals?.pageviews;
        return counted === hits ? [] : [`analytics: ${counted} of ${hits} hits counted`];
      }),
  };
}

/** Messages have no key: one without an answer may be stored, but never twice. */
export async function meetingLoad(at: Installation): Promise<Load> {
  const roomId = `R${randomUUID().slice(0, 8).toUpperCase()}`;
  const ledger: string[] = [];
  const unanswered = new Set<string>();
  let person: Person | undefined;

  const isOpen = () => person?.socket.readyState === 1;
  async function enter() {
    const base = at.url('meeting');
    if (!base) return;
    const resume = person?.resumeToken ? { resumeToken: person.resumeToken } : {};
    const joining = enterRoom(base, roomId, 'Ada', { isHost: true, ...resume }).catch(() => undefined);
    person = (await Promise.race([joining, sleep(ANSWER_MS)])) ?? person;
  }
  async function postChat() {
    if (!isOpen()) return enter();
    const words = randomUUID();
    unanswered.add(words);
    const { socket, inbox, send } = person!;
    send('chat', { text: words });
    const isHeard = () => inbox.some(({ type, text: heard }) => type === 'chat' && heard === words);
    await eventually(() => isHeard() || socket.readyState !== 1, AbortSignal.timeout(ANSWER_MS)).catch(() =>
      socket.terminate(),
    );
    if (!isHeard()) return;
    unanswered.delete(words);
    ledger.push(words);
  }

  return {
    run: (stop) => repeat(stop, postChat),
    acknowledged: () => ledger.length,
    async violations() {
      person?.socket.terminate();
      const args = ['replay', '--type', 'ChatSent', '--format', 'ndjson', ...at.storeFlags];
      const { stdout, stderr, code } = await run(args);
      if (code !== 0) return [`replay ended with ${code}: ${stderr}`];
      const events = stdout.split('\n').flatMap((line) => (line === '' ? [] : JSON.parse(line)));
      const texts = events
        .filter(({ data }) => data.roomId === roomId)
        .map(({ data }) => data.secret?.text ?? data.text);
      return differences('meeting', ledger, texts, unanswered);
    },
  };
}

export const loads = [chatLoad, roomsLoad, logsLoad, analyticsLoad, meetingLoad];
