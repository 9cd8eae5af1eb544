/** A worker thread, started on demand and restarted when it dies. */
import { Worker } from 'node:worker_threads';
import { type Logger, UnavailableError } from '../../../application/ports/index.js';
import { type CallHandlers, createRpcPeer, type ErrorClasses, type RpcPeer } from './worker-rpc.js';

export interface ThreadOptions {
  /** Module to run. */
  readonly module: URL;
  /** Plain data, for the module's `workerData`. */
  readonly data: unknown;
  /** Handlers of the worker's calls. */
  readonly handlers: CallHandlers;
  readonly errorClasses: ErrorClasses;
  /** Heap limit in MB. Beyond it the worker dies, and nothing else. */
  readonly heapMb: number;
  readonly logger: Logger;
}

export interface WorkerThread extends Pick<RpcPeer, 'call'> {
  close(): Promise<void>;
}

/** Size of the young generation in MB: Node's default, independent of the process's flags. */
const YOUNG_MB = 48;

/** Creates a worker. Calls reject with `UnavailableError` when it dies. It does not keep the process alive. */
export function createWorkerThread({
  module,
  data,
  handlers,
  errorClasses,
  heapMb,
  logger,
}: ThreadOptions): WorkerThread {
  let running: { readonly worker: Worker; readonly peer: RpcPeer } | undefined;
  let closed = false;

  function start() {
    if (closed) throw new UnavailableError('the worker thread is closed');
    const worker = new Worker(module, {
      workerData: data,
      resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: YOUNG_MB },
    });
    const peer = createRpcPeer(worker, handlers, [...errorClasses, UnavailableError]);
    // After the listeners are added, since adding one references the worker again.
    worker.unref();
    const started = { worker, peer };
    const onDeath = (err?: Error) => {
      peer.end(new UnavailableError('the worker thread died', { cause: err }));
      if (running !== started) return;
      running = undefined;
      if (!closed) logger.warn({ err }, 'a worker thread died; its requests are answered 503 and a new one is started');
    };
    worker.on('error', onDeath).on('exit', () => onDeath());
    return started;
  }

  return {
    async call(name, args, signal) {
      running ??= start();
      return running.peer.call(name, args, signal);
    },
    async close() {
      closed = true;
      await running?.worker.terminate();
    },
  };
}
