/** RPC between two threads: each side can call the other, cancel calls, and return typed errors. */
import type { MessagePort, Worker } from 'node:worker_threads';

type Message =
  | {
      readonly call: number;
      readonly name: string;
      readonly args: readonly unknown[];
      /** Cancelled before it was sent. */
      readonly isCancelled: boolean;
    }
  | { readonly cancel: number }
  | { readonly answer: number; readonly value: unknown }
  | { readonly answer: number; readonly failed: { readonly name: string; readonly message: string } };

/** Handlers of calls by name. The signal is aborted when the caller cancels. */
export type CallHandlers = { readonly [name: string]: (signal: AbortSignal, ...args: never[]) => unknown };

/** Error classes that keep their type across threads; others arrive as `Error`. */
export type ErrorClasses = readonly (new (message?: string) => Error)[];

export type RpcPeer = ReturnType<typeof createRpcPeer>;

interface PendingCall {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

export function createRpcPeer(port: MessagePort | Worker, answers: CallHandlers, kinds: ErrorClasses) {
  const pendingCalls = new Map<number, PendingCall>();
  const running = new Map<number, AbortController>();
  let lastCall = 0;
  let ended: Error | undefined;
  const post = (message: Message) => port.postMessage(message);

  async function answer({ call, name, args, isCancelled }: Extract<Message, { call: number }>) {
    const stop = new AbortController();
    if (isCancelled) stop.abort();
    running.set(call, stop);
    try {
      const value = await answers[name]!(stop.signal, ...(args as never[]));
      post({ answer: call, value });
    } catch (error) {
      const { name: kind, message } = error as Error;
      post({ answer: call, failed: { name: kind, message } });
    } finally {
      running.delete(call);
    }
  }

  port.on('message', (message: Message) => {
    if ('call' in message) void answer(message);
    else if ('cancel' in message) running.get(message.cancel)?.abort();
    else if ('failed' in message) pendingCalls.get(message.answer)?.reject(errorOf(message.failed));
    else pendingCalls.get(message.answer)?.resolve(message.value);
  });

  function errorOf({ name, message }: { readonly name: string; readonly message: string }): Error {
    const Kind = kinds.find((each) => each.name === name);
    return Kind ? new Kind(message) : new Error(`${name}: ${message}`);
  }

  return {
    /** Arguments and results are plain data. When the signal is aborted, the other side decides the result. */
    async call<Value>(name: string, args: readonly unknown[], signal?: AbortSignal): Promise<Value> {
      if (ended) throw ended;
      const call = ++lastCall;
      const cancel = () => post({ cancel: call });
      signal?.addEventListener('abort', cancel);
      try {
        return await new Promise<Value>((resolve, reject) => {
          pendingCalls.set(call, { resolve: resolve as PendingCall['resolve'], reject });
          post({ call, name, args, isCancelled: signal?.aborted ?? false });
        });
      } finally {
        signal?.removeEventListener('abort', cancel);
        pendingCalls.delete(call);
      }
    },

    /** Rejects all current and later calls: the other side is gone. */
    end(reason: Error) {
      ended ??= reason;
      for (const { reject } of pendingCalls.values()) reject(reason);
      for (const stop of running.values()) stop.abort();
    },
  };
}
