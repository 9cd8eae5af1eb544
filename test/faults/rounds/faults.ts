/** Faults of an installation. Each one resolves when it has ended and all nodes have been started again. */
import { setTimeout as sleep } from 'node:timers/promises';
import { engineNames, type Installation } from './installation.js';

export interface Fault {
  readonly name: string;
  /** Needs engines of this installation, since it reaches into their processes or connections. */
  readonly engines?: true;
  run(installation: Installation, options: FaultOptions): Promise<void>;
}

export interface FaultOptions {
  /** Milliseconds that it lasts, if it has a length. */
  readonly ms: number;
  /** Returns a whole number below `n`. */
  readonly pick: (n: number) => number;
}

const HOUR_MS = 3_600_000;

const all = ({ size }: Installation) => Array.from({ length: size }, (_, node) => node);

async function kill(installation: Installation, nodes: readonly number[], ms: number) {
  await Promise.all(nodes.map((node) => installation.signal(node, 'SIGKILL')));
  await sleep(ms);
  await Promise.all(nodes.map((node) => installation.start(node)));
}

async function cut(installation: Installation, nodes: readonly number[], ms: number) {
  for (const node of nodes) installation.cut(node, true);
  await sleep(ms);
  for (const node of nodes) installation.cut(node, false);
}

export const faults: readonly Fault[] = [
  { name: 'kill a node', run: (at, { ms, pick }) => kill(at, [pick(at.size)], ms / 4) },
  { name: 'kill all nodes', run: (at, { ms }) => kill(at, all(at), ms / 10) },
  {
    name: 'restart the nodes one after another',
    async run(installation) {
      for (const node of all(installation)) {
        await installation.signal(node, 'SIGTERM');
        await installation.start(node);
      }
    },
  },
  {
    name: 'freeze a node',
    async run(installation, { ms, pick }) {
      const node = pick(installation.size);
      await installation.signal(node, 'SIGSTOP');
      await sleep(ms);
      await installation.signal(node, 'SIGCONT');
    },
  },
  {
    name: 'set the clock of a node five hours ahead',
    async run(installation, { ms, pick }) {
      const node = pick(installation.size);
      await installation.signal(node, 'SIGKILL');
      await installation.start(node, 5 * HOUR_MS);
      await sleep(ms / 2);
      await kill(installation, [node], 0);
    },
  },
  {
    name: 'kill an engine',
    engines: true,
    async run(installation, { ms, pick }) {
      installation.signalEngine(engineNames[pick(2)]!, 'SIGKILL');
      await sleep(ms / 4);
    },
  },
  {
    name: 'kill everything',
    engines: true,
    async run(installation, { ms }) {
      for (const engine of engineNames) installation.signalEngine(engine, 'SIGKILL');
      await kill(installation, all(installation), ms / 10);
    },
  },
  {
    name: 'freeze an engine',
    engines: true,
    async run(installation, { ms, pick }) {
      const engine = engineNames[pick(2)]!;
      installation.signalEngine(engine, 'SIGSTOP');
      await sleep(ms);
      installation.signalEngine(engine, 'SIGCONT');
    },
  },
  {
    name: 'slow an engine down to a tenth',
    engines: true,
    async run(installation, { ms, pick }) {
      const engine = engineNames[pick(2)]!;
      for (const end = performance.now() + ms; performance.now() < end; await sleep(10)) {
        installation.signalEngine(engine, 'SIGSTOP');
        await sleep(90);
        installation.signalEngine(engine, 'SIGCONT');
      }
    },
  },
  { name: 'cut a node off the stores', engines: true, run: (at, { ms, pick }) => cut(at, [pick(at.size)], ms / 2) },
  { name: 'cut all nodes off the stores', engines: true, run: (at, { ms }) => cut(at, all(at), ms / 2) },
  {
    name: 'fill the disk of the engines',
    engines: true,
    async run(installation, { ms }) {
      installation.fillDisk(true);
      await sleep(ms / 2);
      installation.fillDisk(false);
    },
  },
];
