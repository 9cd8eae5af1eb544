/** Embedded engines for tests: each with a store of its own, and all of a kind in one process, which starts but once. */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { owned } from './children.js';
import type { Asked, Begin, Begun, Told } from './engine-house-process.js';

export type Kind = 'eventstore' | 'mongo';

export interface Lodger extends Begun {
  /** Ends its connections and closes its store. */
  stop(): Promise<void>;
}

/** Starts an engine beside those that run. Tests that kill engines, or freeze them, have others. */
export async function lodge(kind: Kind, begin: Begin): Promise<Lodger> {
  const house = houseOf(kind);
  const begun = (await house.ask({ begin })) as Begun;
  return { ...begun, stop: async () => void (await house.ask({ end: begun.port })) };
}

interface House {
  ask(asked: Asked): Promise<Begun | undefined>;
}

const houses = new Map<Kind, House>();

function houseOf(kind: Kind): House {
  const standing = houses.get(kind) ?? build(kind);
  houses.set(kind, standing);
  return standing;
}

const ENTRY = fileURLToPath(new URL('./engine-house-process.js', import.meta.url));

function build(kind: Kind): House {
  const child = owned(
    fork(ENTRY, [kind], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      execArgv: ['--max-semi-space-size=4'],
    }),
  );
  const waiting = new Map<number, { resolve(begun?: Begun): void; reject(error: Error): void }>();
  let [asked, lodgers] = [0, 0];
  child.on('message', ({ id, begun, failed }: Told) => {
    if (failed === undefined) waiting.get(id)?.resolve(begun);
    else waiting.get(id)?.reject(new Error(failed));
    waiting.delete(id);
  });
  child.once('exit', (code, signal) => {
    houses.delete(kind);
    for (const { reject } of waiting.values()) reject(new Error(`the ${kind} engines ended with ${signal ?? code}`));
  });
  /** With nobody in it, it keeps nothing from ending. */
  const hold = (isHeld: boolean) => {
    for (const each of [child, child.channel]) isHeld ? each?.ref() : each?.unref();
  };
  return {
    async ask(what) {
      const id = asked++;
      if ('begin' in what) lodgers++;
      hold(true);
      const answer = await new Promise<Begun | undefined>((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        child.send({ id, ...what }, (error) => error && reject(error));
      }).finally(() => waiting.delete(id));
      if ('end' in what) lodgers--;
      hold(lodgers > 0 || waiting.size > 0);
      return answer;
    },
  };
}
