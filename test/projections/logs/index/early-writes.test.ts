/** Writes of the record index that begin before all events of a batch are indexed, because much is buffered. */
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import type { RecordedEvent } from '../../../../application/ports/index.js';
import type { Build, Row } from '../../../../projections/kernel/projection.js';
import { records } from '../../../../projections/logs/index/records.js';
import { NOON } from '../../../domain/logs/arbitrary.js';
import { held, type IndexFixture, type Request, startIndexFixture } from '../../../support/record-index.js';

const REQUESTS = 20;
const RECORDS = 16;
const RECORD_BYTES = 28_000;
/** Added to writes of one collection, so that those of another end earlier. */
const SLOW = { part: 'buckets', ms: 300 };

/** Hardly compressible, so that some of the requests fill the buffer. */
const request = (_: unknown, nth: number): Request => ({
  producerId: 'api',
  receivedAt: NOON,
  records: Array.from({ length: RECORDS }, (_, place) => ({
    message: `request ${nth} record ${place} ${randomBytes((RECORD_BYTES * 3) / 4).toString('base64')}`,
  })),
});

describe('an early write of the record index', function () {
  this.timeout(60_000);
  let fixture: IndexFixture;
  let events: readonly RecordedEvent[];
  let expected: readonly Row[];

  before(async () => {
    fixture = await startIndexFixture();
    events = await fixture.ingested(Array.from({ length: REQUESTS }, request), RECORD_BYTES);
    expected = await fixture.rowsOf(await fixture.build(events));
  });
  after(() => fixture?.stop());

  async function failsOnce(parts: (build: Build, writes: { begun: number; ended: number }) => Partial<Build>) {
    const name = `logs_records_v${records.version}_${randomUUID().slice(0, 8)}`;
    const writes = { begun: 0, ended: 0 };
    const counted = (build: Build): Build => ({
      ...build,
      async write(part, rows) {
        writes.begun++;
        await build.write(part, rows);
        if (part === SLOW.part) await delay(SLOW.ms);
        writes.ended++;
      },
    });
    const model = {
      ...records,
      open: (build: Build) => records.open({ ...counted(build), ...parts(counted(build), writes) }),
    };
    const apply = await fixture.kernel.builds.open(model, name, held);
    const failure = await apply(events).then(
      () => undefined,
      (error) => error.message,
    );
    expect(failure).to.equal('failed once');
    expect(writes.ended, 'no write goes on').to.equal(writes.begun);
    await apply(events);
    expect(await fixture.rowsOf(name)).to.deep.equal(expected);
  }

  it('loses nothing when it fails', () =>
    failsOnce((build, writes) => ({
      async write(part, rows) {
        const isFirst = writes.begun === 0;
        await build.write(part, rows);
        if (isFirst) throw new Error('failed once');
      },
    })));

  it('has ended in all collections when it fails in one', () => {
    let hasFailed = false;
    return failsOnce((build) => ({
      async write(part, rows) {
        if (part === 'blocks' && !hasFailed) {
          hasFailed = true;
          throw new Error('failed once');
        }
        await build.write(part, rows);
      },
    }));
  });

  it('has ended when indexing fails meanwhile', () => {
    let hasFailed = false;
    return failsOnce((build, writes) => ({
      vault: {
        ...build.vault,
        async open(...sealed) {
          if (writes.begun > 0 && !hasFailed) {
            hasFailed = true;
            throw new Error('failed once');
          }
          return build.vault.open(...sealed);
        },
      },
    }));
  });
});
