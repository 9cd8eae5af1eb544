/** The active build of a read model, switched by events in its own stream. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { activeProjection, servedEvents, servedStream } from '../../../domain/shared/active-projection.js';
import { isRejection } from '../../../domain/shared/decider.js';
import { specOf } from '../../support/decider-spec.js';

const { given } = specOf(activeProjection);
const build = (collection: string, version = 1) => ({ projection: 'rooms.state', version, collection });
const switchTo = (collection: string, version = 1) => ({
  type: 'SwitchProjection' as const,
  ...build(collection, version),
});
const switched = (collection: string, version = 1) => ({
  type: 'ProjectionSwitched' as const,
  data: build(collection, version),
});

describe('the active build of a read model', () => {
  it('is switched to another build', () => {
    given().when(switchTo('one')).then(switched('one'));
    given(switched('one')).when(switchTo('two', 2)).then(switched('two', 2));
    given(switched('one'), switched('two')).when(switchTo('one')).then(switched('one'));
  });

  it('is not switched to the build that is already active', () => {
    given(switched('one')).when(switchTo('one')).thenNothing();
  });

  it('has its own stream within its service', () => {
    expect(servedStream('rooms.state')).to.equal('rooms.projection-state');
    expect(servedStream('chat.messages.search')).to.equal('chat.projection-messages.search');
  });

  it('is announced by an event with projection, version and collection', () => {
    const valid = new Ajv2020({ strict: false }).compile(servedEvents.ProjectionSwitched.versions[0]!.schema);
    expect(valid(build('one'))).to.equal(true);
    for (const missing of ['projection', 'version', 'collection']) {
      expect(valid({ ...build('one'), [missing]: undefined }), missing).to.equal(false);
      expect(valid({ ...build('one'), [missing]: {} }), missing).to.equal(false);
    }
    expect(valid(build('one', 0))).to.equal(false);
  });
});

describe('the outcome of a command', () => {
  it('is a rejection only if it has the form of one', () => {
    expect(isRejection({ rejected: 'toys/full', kind: 'conflict' })).to.equal(true);
    for (const other of [[], {}, null, undefined, 'rejected', 7, () => {}]) expect(isRejection(other)).to.equal(false);
  });
});
