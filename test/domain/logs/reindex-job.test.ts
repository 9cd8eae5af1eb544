/** The reindex job: started once, finished once, with a permanent report. */
import { expect } from 'chai';
import { rebuild, rebuildStream } from '../../../domain/logs/reindex-job.js';
import { specOf } from '../../support/decider-spec.js';

const { given, after } = specOf(rebuild);
const report = (recordsInserted: number) => ({
  startedAt: 1000,
  finishedAt: 3000,
  recordsInserted,
  recordsSkipped: 1,
  entriesDeleted: 5,
});
const begin = (startedAt: number) => ({ type: 'BeginRebuild' as const, id: 'r1', startedAt });
const begun = { type: 'RebuildBegun' as const, data: { id: 'r1', startedAt: 1000 } };
const finish = (records: number) => ({ type: 'FinishRebuild' as const, id: 'r1', ...report(records) });
const finished = (records: number) => ({
  type: 'RebuildFinished' as const,
  data: { id: 'r1', ...report(records) },
});

describe('a reindex job', () => {
  it('is started once', () => {
    given().when(begin(1000)).then(begun);
    given(begun).when(begin(2000)).thenNothing();
  });

  it('is finished once, with its report', () => {
    given(begun).when(finish(4)).then(finished(4));
    given(begun, finished(4)).when(finish(9)).thenNothing();
    expect(after([begun])).to.deep.equal({ begun: true });
    expect(after([begun, finished(4)])).to.deep.equal({ begun: true, rebuilt: report(4) });
  });

  it('has its own stream', () => expect(rebuildStream('r1')).to.equal('logs.reindex-r1'));
});
