/** Checks that the README is true: it lists what exists. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { commands } from '../../bin/commands/all.js';
import { loadServices } from '../../bin/services/all.js';
import { serviceNames } from '../../bin/settings.js';
import { renderSettings, SETTINGS_PAGE } from './settings-page.js';

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const readme = read('README.md');
const operating = read('docs/operating.md');

describe('the README', () => {
  it('comes with an up-to-date page of settings', () => {
    expect(readFileSync(SETTINGS_PAGE, 'utf8'), 'run npm run docs:settings').to.equal(renderSettings());
  });

  it('is short enough to be read', () => {
    expect(Buffer.byteLength(readme)).to.be.below(16 * 1024);
  });

  it('lists every command and every service', async () => {
    for (const { name } of commands) expect(operating, name).to.contain(`annals ${name}`);
    const services = await loadServices();
    expect(services.map(({ name }) => name)).to.deep.equal(serviceNames);
    for (const { name } of services) expect(readme, name).to.contain(`| \`${name}\``);
  });

  it('names and links only existing files', () => {
    const named = [...readme.matchAll(/`((?:adapters|application|domain|projections|test|bin)\/[\w./-]+\.ts)`/g)];
    for (const [, path = ''] of named) read(path);
    const linked = [...readme.matchAll(/\]\(([\w./-]+)\)/g)];
    expect(linked.length).to.be.greaterThan(5);
    for (const [, path = ''] of linked) read(path);
  });
});
