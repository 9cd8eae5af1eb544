/** Benchmarks meetings: messages, simultaneous joins and files, beside a bare relay that keeps everything in memory. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { RecordableHistogram } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { anonymousMB, processorMs } from '@annals/engines/testing/process-usage.js';
import type { WebSocket } from 'ws';
import { type Attendee, byRoom, connect, join, leave, roomIdOf, settled, talk } from './meeting-clients.js';
import { startUsual } from './started.js';

const PER_ROOM = 8;
const RATES = [2, 6];
const JOINS_PER_SECOND = 1000;
/** Base64 characters in a chunk. */
const CHUNK = 'a'.repeat(64 * 1024);
/** The service allows 200 messages a second for each socket. */
const CHUNKS_PER_SECOND = 180;
const FLAGS = ['--server-trusted-proxies', '127.0.0.1'];

interface Subject {
  readonly name: string;
  readonly url: string;
  /** The process that holds the sockets, and the engines it needs. */
  readonly pid: number;
  readonly others: readonly number[];
}

interface Sizes {
  readonly rooms: number;
  readonly seconds: number;
}

/** Figures that are compared between the two subjects, by name. */
type Figures = { readonly [figure: string]: number };

/** `quick`: 25 rooms for 3 s instead of 250 for 10 s; `rooms` overrides the number of rooms. */
export async function bench(
  print: (line: string) => void,
  { quick = false, rooms = quick ? 25 : 250 }: { quick?: boolean; rooms?: number },
): Promise<void> {
  const sizes = { rooms, seconds: quick ? 3 : 10 };
  const plain = fork(fileURLToPath(new URL('./plain-relay.js', import.meta.url)));
  const [port] = (await once(plain, 'message')) as [number];
  const ceiling = { name: 'bare relay', url: `ws://127.0.0.1:${port}`, pid: plain.pid ?? 0, others: [] };
  const most = await measure(ceiling, sizes, print);
  plain.kill();

  const directory = temporaryDirectory();
  const server = await startUsual(directory.path, FLAGS);
  try {
    const url = (server.urls.meeting ?? '').replace('http', 'ws');
    const subject = { name: 'meetings', url, pid: server.child.pid ?? 0, others: server.enginePids };
    const own = await measure(subject, sizes, print);
    for (const [what, figure] of Object.entries(own))
      print(`${what}: ${(figure / (most[what] ?? Number.NaN)).toFixed(2)} of the bare relay's`);
  } finally {
    await server.stop();
    directory.remove();
  }
}

async function measure(subject: Subject, sizes: Sizes, print: (line: string) => void): Promise<Figures> {
  const report = (line: string) => print(`${subject.name}: ${line}`);
  const figures: { [figure: string]: number } = {};
  const { pid, others, url } = subject;
  const spent = () => [processorMs(pid), others.reduce((sum, each) => sum + processorMs(each), 0)] as const;
  /** Runs `work` and measures the processor microseconds per piece. */
  async function costing<Result>(work: () => Promise<Result>, pieces: (result: Result) => number) {
    const [own, engines] = spent();
    const result = await work();
    const [ownThen, enginesThen] = spent();
    const each = (ms: number) => (1000 * ms) / pieces(result);
    return { result, own: each(ownThen - own), engines: each(enginesThen - engines) };
  }
  const cost = ({ own, engines }: { own: number; engines: number }, what: string) =>
    `processor ${own.toFixed(0)} + ${engines.toFixed(0)} µs a ${what}`;

  const count = sizes.rooms * PER_ROOM;
  const roomOf = (n: number) => roomIdOf('BEN', n % sizes.rooms);
  await leave((await warmedUp(url)).map(({ socket }) => socket));

  const before = anonymousMB(pid);
  const sockets = await connect(url, count);
  // Consecutive sockets join different rooms, so the first `rooms` of them open the rooms.
  const joining = (from: number, to: number) =>
    costing(
      () => join(sockets.slice(from, to), (n) => roomOf(from + n), JOINS_PER_SECOND),
      ({ people }) => people.length,
    );
  const opening = await joining(0, sizes.rooms);
  const storm = await joining(sizes.rooms, count);
  const { refused, took, perSecond } = storm.result;
  const people = [...opening.result.people, ...storm.result.people];
  await delay(3000);
  figures['memory a joined socket'] = (1024 * (anonymousMB(pid) - before)) / count;
  figures['processor a join'] = storm.own + storm.engines;
  report(`${sizes.rooms} rooms opened, ${times(opening.result.took)}, ${cost(opening, 'room')}`);
  report(
    `${people.length} of ${count} joined, ${perSecond.toFixed(0)}/s of ${JOINS_PER_SECOND}/s, ${times(took)}, ${cost(storm, 'join')}, ` +
      `${figures['memory a joined socket'].toFixed(0)} KB a joined socket; refused: ${refused.length}`,
  );
  if (subject.name !== 'bare relay') {
    const more = await connect(url, sizes.rooms);
    const overflow = await join(more, roomOf);
    report(
      `of one more for each full room ${overflow.people.length} got in (${[...new Set(overflow.refused)].join()})`,
    );
    await leave(more);
  }

  for (const rate of RATES) {
    const talking = await costing(
      () => talk(people, { perSecond: rate, seconds: sizes.seconds }),
      ({ sent }) => sent,
    );
    const { sent, delivered, missing, cut, chat, candidates } = talking.result;
    figures[`processor a message at ${rate}/s`] = talking.own + talking.engines;
    figures[`chat p99 at ${rate}/s`] = chat.percentile(99);
    figures[`candidate p99 at ${rate}/s`] = candidates.percentile(99);
    report(
      `${rate} messages a second each: ${sent} sent, ${delivered} delivered, ${missing} missing, ${cut} cut; chat ${times(chat)}; ` +
        `candidates ${times(candidates)}; ${cost(talking, 'message')}`,
    );
  }

  const transfer = await costing(
    () => transferFiles(people, sizes.seconds, () => anonymousMB(pid)),
    ({ megabytes }) => megabytes,
  );
  const { megabytes, missing, seconds, memory } = transfer.result;
  figures['processor a MB of files'] = transfer.own;
  report(
    `files: ${(megabytes / seconds).toFixed(0)} MB of chunks a second, ${missing} chunks missing, ` +
      `memory ${memory.map((each) => each.toFixed(0)).join(' to ')} MB, ${cost(transfer, 'MB')}`,
  );
  await leave(people.map(({ socket }) => socket));
  return figures;
}

/** Runs each kind of work once, so that its code is compiled. */
async function warmedUp(url: string): Promise<readonly Attendee[]> {
  const joinAll = async () => (await join(await connect(url, 10 * PER_ROOM), (n) => roomIdOf('WRM', n % 10))).people;
  for (let round = 0; round < 5; round++) await leave((await joinAll()).map(({ socket }) => socket));
  const people = await joinAll();
  await talk(people, { perSecond: 10, seconds: 3 });
  return people;
}

/** In each of eight rooms, one participant sends file chunks to another. */
async function transferFiles(people: readonly Attendee[], seconds: number, memoryMB: () => number) {
  const pairs = [...byRoom(people).values()].slice(0, 8);
  const memory = [memoryMB()];
  let arrived = 0;
  const onMessage = (data: Buffer) => {
    if (data.length > CHUNK.length) arrived++;
  };
  for (const [, to] of pairs) to?.socket.on('message', onMessage);
  const started = performance.now();
  const until = started + 1000 * seconds;
  const sent = await Promise.all(pairs.map(([from, to]) => sendChunks(from!, to!, until)));
  const total = sent.reduce((sum, each) => sum + each, 0);
  await settled(() => arrived, total);
  const took = (performance.now() - started) / 1000;
  memory.push(memoryMB());
  for (const [, to] of pairs) to?.socket.off('message', onMessage);
  return { megabytes: (arrived * CHUNK.length) / 1e6, missing: total - arrived, seconds: took, memory };
}

async function sendChunks({ socket, roomId, id }: Attendee, to: Attendee, until: number): Promise<number> {
  const started = performance.now();
  const base = { type: 'file-chunk', roomId, participantId: id, timestamp: 0, targetId: to.id };
  let index = 0;
  while (performance.now() < until) {
    const due = (CHUNKS_PER_SECOND * (performance.now() - started)) / 1000;
    if (index > due || isBehind(socket)) {
      await delay(1);
      continue;
    }
    socket.send(JSON.stringify({ ...base, transferId: 'bench', chunk: CHUNK, index, total: 1_000_000 }));
    index++;
  }
  return index;
}

const isBehind = (socket: WebSocket) => socket.bufferedAmount > 1024 * 1024;

const times = (histogram: RecordableHistogram) =>
  [50, 99, 100]
    .map((each) => `p${each} ${(histogram.percentile(each) / 1000).toFixed(1)} ms`)
    .join(', ')
    .replace('p100', 'most');

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await bench(console.log, { quick: process.argv.includes('--quick') });
}
