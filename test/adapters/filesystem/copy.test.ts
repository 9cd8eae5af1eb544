/** A copy of a directory store: all complete files, no partial ones. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { copyDirectoryStore } from '../../../adapters/filesystem/copy-store.js';
import { createDirectoryStore } from '../../../adapters/filesystem/directory-store.js';

describe('a copy of stored files', () => {
  const directory = temporaryDirectory();
  const [from, to] = ['from', 'to'].map((name) => join(directory.path, name)) as [string, string];
  after(() => directory.remove());

  it('is empty without a store', async () => {
    expect(await copyDirectoryStore(from, to)).to.deep.equal({ files: 0, bytes: 0 });
    expect(readdirSync(directory.path)).to.deep.equal([]);
  });

  it('contains complete files, readable by this user only, and no partial ones', async () => {
    const store = createDirectoryStore(from);
    const names: string[] = [];
    for (const text of ['first', 'the second']) {
      const writing = await store.begin();
      await writing.write(Buffer.from(text));
      await writing.keep('somebody');
      names.push(writing.stored);
    }
    const begun = await store.begin();
    await begun.write(Buffer.from('begun'));
    expect(await copyDirectoryStore(from, to)).to.deep.equal({ files: 2, bytes: 15 });
    const files = readdirSync(join(to, 'kept')).flatMap((shelf) =>
      readdirSync(join(to, 'kept', shelf)).map((name) => join(to, 'kept', shelf, name)),
    );
    expect(files.map((path) => statSync(path).mode & 0o777)).to.deep.equal([0o600, 0o600]);
    const copied = createDirectoryStore(to);
    const found: string[] = [];
    for (const [index, stored] of names.entries())
      for await (const piece of copied.read(stored, 0, index === 0 ? 5 : 10)) found.push(Buffer.from(piece).toString());
    expect(found).to.deep.equal(['first', 'the second']);
    await begun.drop();
  });
});
