/** The name of a process in leases, and recovery from a damaged name file. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { nodeName } from '../../bin/node/locate-servers.js';

describe('node name', () => {
  const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;
  for (const [what, kept] of [
    ['empty', ''],
    ['wiped', '\0'.repeat(37)],
  ] as const)
    it(`is generated anew when the stored one is ${what}`, () => {
      const directory = temporaryDirectory();
      const file = join(directory.path, 'node', 'name');
      mkdirSync(join(directory.path, 'node'));
      writeFileSync(file, kept);
      const name = nodeName(directory.path);
      expect(name).to.match(UUID);
      expect(readFileSync(file, 'utf8')).to.equal(`${name}\n`);
      // A second node in the same directory gets another name.
      expect(nodeName(directory.path)).to.match(UUID).and.not.equal(name);
      directory.remove();
    });

  it('stays the same across starts', () => {
    const directory = temporaryDirectory();
    mkdirSync(join(directory.path, 'node'));
    const name = 'c9488f0d-0cbd-41d3-8270-2b6621d854f2';
    writeFileSync(join(directory.path, 'node', 'name'), `${name}\n`);
    expect(nodeName(directory.path)).to.equal(name);
    directory.remove();
  });
});
