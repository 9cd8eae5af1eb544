/** Active builds known to a process, and names and groups of read models. */
import { expect } from 'chai';
import { serviceOf } from '../../../domain/shared/decider.js';
import { createActiveBuilds } from '../../../projections/kernel/active-builds.js';
import {
  batching,
  collectionName,
  groupsOf,
  type OwnProjection,
  runOf,
} from '../../../projections/kernel/projection.js';
import { contents } from '../../support/toy-service.js';

describe('the active build', () => {
  const build = (collection: string, revision: number, projection = contents.name) => ({
    projection,
    version: 1,
    collection,
    revision,
  });

  it('is the one with the highest revision, in any order of events', () => {
    const served = createActiveBuilds();
    expect([served.collection(contents.name), served.known(contents.name)]).to.deep.equal([undefined, undefined]);
    for (const each of [build('first', 0), build('third', 2), build('second', 1), build('again', 2)])
      served.adopt(each);
    expect(served.collection(contents.name)).to.equal('third');
    expect(served.known(contents.name)).to.deep.equal(build('third', 2));
    served.adopt(build('other', 0, 'toys.other'));
    expect([served.collection(contents.name), served.collection('toys.other')]).to.deep.equal(['third', 'other']);
  });

  it('has a collection named after service, model, version and run', () => {
    const name = collectionName({ ...contents, name: 'toys.most.wanted', version: 12 }, 'k3x9');
    expect(name).to.equal('toys_most_wanted_v12_k3x9');
    expect(runOf(name)).to.equal('k3x9');
    expect(serviceOf('toys.most.wanted')).to.equal('toys');
  });

  it('is projected with its service, or in its own group if isolated', () => {
    const named = (name: string) => ({ ...contents, name });
    const [shelf, search, list] = [
      named('toys.shelf'),
      { ...named('toys.search'), isolated: true as const },
      named('toys.list'),
    ];
    expect(groupsOf('toys', [shelf, search, list])).to.deep.equal([
      { name: 'toys', service: 'toys', projections: [shelf, list] },
      { name: 'toys.search', service: 'toys', projections: [search] },
    ]);
  });

  it('limits the batch size to the smallest of its group', () => {
    const own = (batchSize?: number) =>
      ({ name: 'toys.own', version: 1, ...(batchSize && { batchSize }) }) as OwnProjection;
    const opened = (batchSize?: number) => Object.assign(own(batchSize), { open: async () => async () => {} });
    expect(batching([contents, opened()])).to.deep.equal({});
    expect(batching([contents, opened(50), opened(20), opened()])).to.deep.equal({ batchSize: 20 });
  });
});
