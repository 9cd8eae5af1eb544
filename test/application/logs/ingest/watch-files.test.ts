/** Tailed log files: each line is ingested once despite truncation, outages and restarts. */
import { silentLogger } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import type { Records } from '../../../../application/logs/ingest/ingest-records.js';
import { createFileTailer } from '../../../../application/logs/ingest/tail-files.js';
import { lines, NOON } from '../../../support/memory-ingest.js';
import { context } from '../../../support/toy-service.js';

describe('tailed log files', () => {
  interface File {
    path: string;
    id: string;
    size: number;
    text: string;
  }
  function fixture(initialFiles: readonly (Omit<File, 'size'> & { size?: number })[]) {
    const files: File[] = initialFiles.map((each) => ({ size: Buffer.byteLength(each.text), ...each }));
    const taken: Records[] = [];
    const messagesLogged: string[] = [];
    const logMessage = (_: object, message: string) => void messagesLogged.push(message);
    const it = {
      full: 0,
      caughtUp: 0,
      known: new Map<string, number>(),
      missing: [] as string[],
      broken: false,
      calls: 0,
      retryAfterMs: 1,
      taking: () => {},
    };
    const stop = new AbortController();
    const watch = createFileTailer<File>({
      directories: ['/logs'],
      async *filesIn(_, unreadable) {
        for (const path of it.missing) unreadable(path, new Error('gone'));
        yield* files;
        if (it.broken) throw new Error('broken');
      },
      async nextPiece(file, offset) {
        const bytes = Buffer.from(file.text).subarray(offset);
        const end = bytes.lastIndexOf(10) + 1;
        return end === 0 ? undefined : { bytes: bytes.subarray(0, end), end: offset + end };
      },
      producerOf: (path) => `host:${path}`,
      ingest: {
        async take(records) {
          it.calls++;
          if (it.full-- > 0) return { rejected: 'logs/queue-full', kind: 'limit', retryAfterMs: it.retryAfterMs };
          taken.push(records);
          it.taking();
          return { receivedAt: NOON, position: 0n, visible: true };
        },
      },
      offset: async (id) => it.known.get(id),
      caughtUp: async () => void it.caughtUp++,
      context,
      logger: { ...silentLogger, warn: logMessage, info: logMessage },
    });
    const again = () => watch(new AbortController().signal);
    const messages = () => taken.flatMap(({ records }) => records.map(({ json }) => JSON.parse(json).message));
    return { files, taken, messagesLogged, it, stop, messages, look: () => watch(stop.signal), again };
  }
  const grow = (file: File, text: string) => {
    file.text += text;
    file.size = Buffer.byteLength(file.text);
  };

  it('are ingested line by line, each complete line once', async () => {
    const { files, taken, messages, look } = fixture([
      { path: '/logs/a', id: 'a', text: `${lines({ message: 1 })}\n{"mes` },
    ]);
    await look();
    expect(messages()).to.deep.equal([1]);
    expect(taken[0]).to.deep.include({ producerId: 'host:/logs/a', rejected: 0 });
    await look();
    grow(files[0]!, 'sage":2}\nnonsense\n');
    await look();
    expect(messages()).to.deep.equal([1, 2]);
    expect(taken.map(({ source }) => source)).to.deep.equal([
      { id: 'a', offset: 14 },
      { id: 'a', offset: files[0]!.size },
    ]);
    expect(taken[1]!.rejected).to.equal(1);
  });

  it('continue at the offset in the log, or from the beginning if truncated', async () => {
    const one = lines({ message: 1 }, { message: 2 });
    const { files, it, messages, look } = fixture([{ path: '/logs/a', id: 'a', text: `${one}\n` }]);
    it.known.set('a', 14);
    await look();
    expect(messages()).to.deep.equal([2]);
    expect(it.caughtUp).to.equal(1);
    files[0]!.text = `${lines({ message: 3 })}\n`;
    files[0]!.size = 14;
    await look();
    expect(messages()).to.deep.equal([2, 3]);
    expect(it.caughtUp, 'its own offsets are known').to.equal(1);
  });

  it('wait while the log service is full, and lose nothing', async () => {
    const { it, messages, look } = fixture([{ path: '/logs/a', id: 'a', text: `${lines({ message: 1 })}\n` }]);
    it.full = 3;
    await look();
    expect(messages()).to.deep.equal([1]);
    expect(it.full).to.equal(-1);
  });

  it('are not ingested after a stop', async () => {
    const { stop, taken, look } = fixture([{ path: '/logs/a', id: 'a', text: `${lines({ message: 1 })}\n` }]);
    stop.abort();
    await look();
    expect(taken).to.have.length(0);
  });

  it('have audit records in separate batches, because their retention differs', async () => {
    const records = [{ message: 1 }, { message: 2, audit: true }, { message: 3, audit: true }, { message: 4 }];
    const { taken, look } = fixture([{ path: '/logs/a', id: 'a', text: `${lines(...records)}\n` }]);
    await look();
    expect(taken.map(({ records }) => records.map(({ json }) => JSON.parse(json).message))).to.deep.equal([
      [1],
      [2, 3],
      [4],
    ]);
  });

  it('are logged once when unreadable, and again when readable', async () => {
    const { it, messagesLogged, look } = fixture([]);
    const loggedFor = async (...missing: string[]) => {
      it.missing = missing;
      messagesLogged.length = 0;
      await look();
      return [...messagesLogged];
    };
    const [unreadable, readable] = ['watched path cannot be read; retrying', 'watched path is readable again'];
    expect(await loggedFor('/logs/b')).to.deep.equal([unreadable]);
    expect(await loggedFor('/logs/b')).to.deep.equal([]);
    expect(await loggedFor('/logs/b', '/logs/c')).to.deep.equal([unreadable]);
    expect(await loggedFor('/logs/c')).to.deep.equal([readable]);
    expect(await loggedFor()).to.deep.equal([readable]);
    expect(await loggedFor()).to.deep.equal([]);
  });

  it('are logged when lines are not valid records', async () => {
    const { messagesLogged, messages, look } = fixture([
      { path: '/logs/a', id: 'a', text: `nonsense\n${lines({ message: 1 })}\n` },
      { path: '/logs/b', id: 'b', text: `${lines({ message: 2 })}\n` },
    ]);
    await look();
    expect(messages()).to.deep.equal([1, 2]);
    expect(messagesLogged).to.deep.equal(['lines that are not valid log records were skipped']);
  });

  it('stop after the current batch, and continue from there', async () => {
    const records = [{ message: 1 }, { message: 2, audit: true }, { message: 3 }];
    const { it, stop, messages, look, again } = fixture([{ path: '/logs/a', id: 'a', text: `${lines(...records)}\n` }]);
    it.taking = () => stop.abort();
    await look();
    expect(messages()).to.deep.equal([1]);
    it.taking = () => {};
    await again();
    expect(messages()).to.deep.equal([1, 2, 3]);
  });

  it('stop while waiting for a full log service', async () => {
    const { it, stop, taken, messagesLogged, messages, look, again } = fixture([
      { path: '/logs/a', id: 'a', text: `${lines({ message: 1 })}\n` },
    ]);
    it.full = Number.POSITIVE_INFINITY;
    it.retryAfterMs = 3_600_000;
    const running = look();
    while (it.calls === 0) await new Promise(setImmediate);
    stop.abort();
    await running;
    expect([it.calls, taken.length, messagesLogged.length]).to.deep.equal([1, 0, 0]);
    it.full = 0;
    await again();
    expect(messages(), 'nothing is lost').to.deep.equal([1]);
  });

  it('do not report a failure caused by the stop', async () => {
    const { it, stop, messagesLogged, look } = fixture([]);
    it.broken = true;
    stop.abort();
    await look();
    expect(messagesLogged).to.deep.equal([]);
  });

  it('read their offsets from the log again after a failure', async () => {
    const { it, messagesLogged, look } = fixture([]);
    it.broken = true;
    await look();
    it.broken = false;
    await look();
    await look();
    expect(it.caughtUp).to.equal(2);
    expect(messagesLogged).to.deep.equal(['log files could not be ingested; retrying']);
  });
});
