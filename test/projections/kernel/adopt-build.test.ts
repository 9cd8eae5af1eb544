/** Switching to builds of another process, despite outages. */
import { randomUUID } from 'node:crypto';
import { type Servers, silentLogger, startServers } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { asEvent } from '../../../application/command/event-envelope.js';
import { type RecordedEvent, UnavailableError } from '../../../application/ports/index.js';
import type { Kernel } from '../../../bin/node/kernel.js';
import type { ProjectionSwitched } from '../../../domain/shared/active-projection.js';
import { servedStream } from '../../../domain/shared/active-projection.js';
import { createBuildSwitch } from '../../../projections/kernel/active-builds.js';
import { contents, startToys } from '../../support/toy-service.js';

describe('a new build', () => {
  let servers: Servers;
  let kernels: Kernel[];
  let stop: AbortController;

  before(async () => {
    servers = await startServers();
  });
  after(() => servers?.stop());
  beforeEach(async () => {
    const database = `test_${randomUUID().slice(0, 8)}`;
    stop = new AbortController();
    kernels = await Promise.all([startToys(servers, database), startToys(servers, database)]);
    for (const { lifecycle, served } of kernels)
      await lifecycle.ensureActive([contents], served, { signal: stop.signal });
  });
  afterEach(async () => {
    stop.abort();
    await kernels[0]?.mongo.models.dropDatabase();
    await Promise.all(kernels.map((each) => each.close()));
  });

  /** Rebuilds on the first node; returns the new build and its switch event. */
  async function rebuild(): Promise<[string, RecordedEvent<ProjectionSwitched>]> {
    const collection = await kernels[0]!.lifecycle.rebuild(contents, { signal: stop.signal });
    const switches = await kernels[0]!.log.read(servedStream(contents.name));
    if (typeof switches === 'string') throw new Error(switches);
    return [collection, asEvent(switches.at(-1)!)];
  }

  it('is adopted by a node after its database was unavailable at the switch', async () => {
    const node = kernels[1]!;
    const [collection, event] = await rebuild();
    let away = true;
    const checkpoints: typeof node.checkpoints = {
      ...node.checkpoints,
      async read(name) {
        if (!away) return node.checkpoints.read(name);
        away = false;
        throw new UnavailableError('MongoDB does not answer');
      },
    };
    await createBuildSwitch({ ...node, checkpoints }, [contents], silentLogger, stop.signal)(event);
    expect(node.served.collection(contents.name)).to.equal(collection);
  });

  it('is not waited for once a newer one is active', async () => {
    const node = kernels[1]!;
    const [, first] = await rebuild();
    const [newest, second] = await rebuild();
    const checkpoints: typeof node.checkpoints = {
      ...node.checkpoints,
      async read() {
        await createBuildSwitch(node, [contents], silentLogger, stop.signal)(second);
        throw new UnavailableError('MongoDB does not answer');
      },
    };
    await createBuildSwitch({ ...node, checkpoints }, [contents], silentLogger, stop.signal)(first);
    expect(node.served.collection(contents.name)).to.equal(newest);
  });
});
