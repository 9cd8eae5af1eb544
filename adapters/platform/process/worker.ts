/** A thread of this process that works for it: begun when it is needed, and anew when it has died. */
import { Worker } from 'node:worker_threads';
import { type Logger, UnavailableError } from '../../../application/ports/index.js';
import { type Answers, createPeer, type Kinds, type Peer } from './worker-rpc.js';

export interface ThreadOptions {
  /** The module that it runs. */
  readonly module: URL;
  /** Plain data, for the module's `workerData`. */
  readonly data: unknown;
  /** What it may ask of this side. */
  readonly answers: Answers;
  readonly kinds: Kinds;
  /** What its heap may take, in MB: beyond that it dies, and nothing else does. */
  readonly heapMb: number;
  readonly logger: Logger;
}

export interface Thread extends Pick<Peer, 'call'> {
  close(): Promise<void>;
}

/** Of its heap, for what is new: what node gives by itself, however much more the process was told to take. */
const YOUNG_MB = 48;

/** What was asked of a thread that dies rejects with `Unavailable`. It keeps no process from ending. */
export function createThread({ module, data, answers, kinds, heapMb, logger }: ThreadOptions): Thread {
  let running: { readonly worker: Worker; readonly peer: Peer } | undefined;
  let closed = false;

  function begin() {
    if (closed) throw new UnavailableError('the thread is closed');
    const worker = new Worker(module, {
      workerData: data,
      resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: YOUNG_MB },
    });
    const peer = createPeer(worker, answers, [...kinds, UnavailableError]);
    // Only now: whoever begins to listen to a thread holds the process again.
    worker.unref();
    const begun = { worker, peer };
    const dead = (err?: Error) => {
      peer.end(new UnavailableError('the thread has died', { cause: err }));
      if (running !== begun) return;
      running = undefined;
      if (!closed) logger.warn({ err }, 'a thread died; what was asked of it is answered 503, and another takes over');
    };
    worker.on('error', dead).on('exit', () => dead());
    return begun;
  }

  return {
    async call(name, args, signal) {
      running ??= begin();
      return running.peer.call(name, args, signal);
    },
    async close() {
      closed = true;
      await running?.worker.terminate();
    },
  };
}
