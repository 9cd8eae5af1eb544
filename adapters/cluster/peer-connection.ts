/** The connection to one other node: comes back by itself, and whoever waits for what is gone is told at once. */
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { ClusterMessage } from '../../application/ports/index.js';
import type { After } from '../platform/process/timer.js';
import { BODY_BYTES, decodeHeard, encodeFrame } from './frames.js';
import { createWindow } from './in-flight-window.js';
import { watchLiving } from './keepalive.js';
import { FROM, TO } from './listener.js';
import { secured } from './psk-tls.js';

export interface LinkOptions {
  readonly run: string;
  readonly to: string;
  readonly key: Buffer;
  /** Where the other one can be reached, as far as is known. */
  readonly address: () => string | undefined;
  /** Grows for as long as the other one says that it lives. */
  readonly beats: () => number | undefined;
  /** Whether it is connected has changed. */
  readonly changed?: (isOpen: boolean) => void;
  /** Something said was lost. */
  readonly lost?: () => void;
  /** It lives, and could not be reached so far. */
  readonly unreached?: (address: string) => void;
  readonly after: After;
}

export interface Link {
  tell(channel: string, said: ClusterMessage): void;
  ask(channel: string, target: string, said: ClusterMessage): Promise<boolean>;
  close(): void;
}

const OPEN_MS = 3000;
/** Between two attempts, growing from the first to the second. */
const [SOONEST_MS, LATEST_MS] = [100, 2000];
/** Attempts in a row before it is told of, each to one that lived after the last: who was killed is known for seconds. */
const MOST_FAILURES = 5;
/** What nobody waits for, and the other one has not taken: beyond it, it is lost. */
const MOST_UNREAD = 8 * 1024 * 1024;
/** All that comes back is that something was heard. */
const HEARD_BYTES = 1024;

/** The other one would end the connection by it, for all that is said over it. */
const isTooLarge = ({ body }: ClusterMessage) => body.length * 3 > BODY_BYTES && Buffer.byteLength(body) > BODY_BYTES;

export function createLink(options: LinkOptions): Link {
  const { run, to, key, address, beats, changed, lost, unreached, after } = options;
  const window = createWindow();
  const closing = new AbortController();
  const { signal } = closing;
  let open: WebSocket | undefined;
  /** Said while there is no connection yet. */
  let early: Buffer[] = [];
  let earlyBytes = 0;
  let numbers = 0;

  function send(bytes: Buffer) {
    if (open) return open.send(bytes);
    early.push(bytes);
    earlyBytes += bytes.length;
  }

  /** All that was said so far goes, or is lost. */
  function settleEarly(socket: WebSocket | undefined) {
    const all = early;
    [early, earlyBytes] = [[], 0];
    if (!socket) window.lose();
    for (const bytes of all) socket ? socket.send(bytes) : lost?.();
  }

  /** Resolves once it is over, with whether there was one. */
  function connect(where: string): Promise<boolean> {
    const socket = new WebSocket(`wss://${where}/`, {
      ...secured(key).client,
      headers: { [FROM]: run, [TO]: to },
      handshakeTimeout: OPEN_MS,
      perMessageDeflate: false,
      maxPayload: HEARD_BYTES,
      // Against middlemen that read along, which there can't be here: it would cost more than all the rest.
      generateMask: (mask) => void mask.fill(0),
    });
    const cut = () => socket.terminate();
    signal.addEventListener('abort', cut);
    return new Promise((resolve) => {
      // Why does not matter: what follows comes with its end.
      socket.on('error', () => {});
      socket.once('open', () => {
        watchLiving(socket, after);
        open = socket;
        settleEarly(socket);
        changed?.(true);
      });
      socket.on('message', (text) => {
        const heard = decodeHeard(String(text));
        if (heard) window.heard(heard.number, heard.came);
        else socket.terminate();
      });
      socket.once('close', () => {
        signal.removeEventListener('abort', cut);
        const was = open === socket;
        open = undefined;
        window.lose();
        if (was) changed?.(false);
        resolve(was);
      });
    });
  }

  async function keepConnected() {
    let [failures, failuresAlive, lastBeats] = [0, 0, beats()];
    while (!signal.aborted) {
      const where = address();
      const was = where !== undefined && (await connect(where));
      settleEarly(undefined);
      const [before, now] = [lastBeats, beats()];
      lastBeats = now;
      failures = was ? 0 : failures + 1;
      if (was) failuresAlive = 0;
      else if (now !== before && ++failuresAlive === MOST_FAILURES && where !== undefined) unreached?.(where);
      const most = Math.min(LATEST_MS, SOONEST_MS * 2 ** failures);
      await delay(most * (0.5 + Math.random() / 2), undefined, { signal, ref: false }).catch(() => {});
    }
    settleEarly(undefined);
  }
  void keepConnected();

  return {
    tell(channel, said) {
      const unread = open ? open.bufferedAmount : earlyBytes;
      if (signal.aborted || unread > MOST_UNREAD || isTooLarge(said)) return lost?.();
      send(encodeFrame({ channel, said }));
    },
    ask(channel, target, said) {
      const isLost = isTooLarge(said);
      if (isLost) lost?.();
      if (signal.aborted || isLost) return Promise.resolve(false);
      const number = ++numbers;
      return new Promise((settle) => {
        const go = () => send(encodeFrame({ channel, said, number }));
        window.add({ number, target, bytes: Buffer.byteLength(said.body), go, settle });
      });
    },
    close: () => closing.abort(),
  };
}
