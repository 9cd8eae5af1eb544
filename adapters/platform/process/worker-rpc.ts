/** Calls between two threads: each side may ask the other, give up what it asked, and fail with an error of a known kind. */
import type { MessagePort, Worker } from 'node:worker_threads';

type Message =
  | {
      readonly call: number;
      readonly name: string;
      readonly args: readonly unknown[];
      /** Given up before it was asked. */
      readonly isCancelled: boolean;
    }
  | { readonly cancel: number }
  | { readonly answer: number; readonly value: unknown }
  | { readonly answer: number; readonly failed: { readonly name: string; readonly message: string } };

/** What the other side may ask, by name. The signal is aborted when it gives up, or has before it asked. */
export type Answers = { readonly [name: string]: (signal: AbortSignal, ...args: never[]) => unknown };

/** Errors that are told apart on the other side; others arrive there as `Error`. */
export type Kinds = readonly (new (message?: string) => Error)[];

export interface Peer {
  /** Arguments and answers are plain data. When the signal is aborted the other side decides what is answered. */
  call<Value>(name: string, args: readonly unknown[], signal?: AbortSignal): Promise<Value>;
  /** Nothing comes any more: what is asked, now and later, rejects. */
  end(reason: Error): void;
}

interface Asked {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

export function createPeer(port: MessagePort | Worker, answers: Answers, kinds: Kinds): Peer {
  const asked = new Map<number, Asked>();
  const working = new Map<number, AbortController>();
  let last = 0;
  let ended: Error | undefined;
  const post = (message: Message) => port.postMessage(message);

  async function answer({ call, name, args, isCancelled }: Extract<Message, { call: number }>) {
    const stop = new AbortController();
    if (isCancelled) stop.abort();
    working.set(call, stop);
    try {
      const value = await answers[name]!(stop.signal, ...(args as never[]));
      post({ answer: call, value });
    } catch (error) {
      const { name: kind, message } = error as Error;
      post({ answer: call, failed: { name: kind, message } });
    } finally {
      working.delete(call);
    }
  }

  port.on('message', (message: Message) => {
    if ('call' in message) void answer(message);
    else if ('cancel' in message) working.get(message.cancel)?.abort();
    else if ('failed' in message) asked.get(message.answer)?.reject(errorOf(message.failed));
    else asked.get(message.answer)?.resolve(message.value);
  });

  function errorOf({ name, message }: { readonly name: string; readonly message: string }): Error {
    const Kind = kinds.find((each) => each.name === name);
    return Kind ? new Kind(message) : new Error(`${name}: ${message}`);
  }

  return {
    async call<Value>(name: string, args: readonly unknown[], signal?: AbortSignal) {
      if (ended) throw ended;
      const call = ++last;
      const cancel = () => post({ cancel: call });
      signal?.addEventListener('abort', cancel);
      try {
        return await new Promise<Value>((resolve, reject) => {
          asked.set(call, { resolve: resolve as Asked['resolve'], reject });
          post({ call, name, args, isCancelled: signal?.aborted ?? false });
        });
      } finally {
        signal?.removeEventListener('abort', cancel);
        asked.delete(call);
      }
    },

    end(reason) {
      ended ??= reason;
      for (const { reject } of asked.values()) reject(reason);
      for (const stop of working.values()) stop.abort();
    },
  };
}
