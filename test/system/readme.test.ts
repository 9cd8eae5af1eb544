/** The README keeps its word: what it lists is what there is. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { commands } from '../../bin/commands/all.js';
import { services } from '../../bin/services/all.js';
import { serviceNames, settings } from '../../bin/settings.js';

const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');

describe('the README', () => {
  it('lists every setting with its default', () => {
    for (const [key, setting] of Object.entries(settings)) {
      const row = readme.split('\n').find((line) => line.includes(`| \`${key}\``)) ?? '';
      expect(row, key).to.contain(setting.description);
      if ('default' in setting) expect(row, key).to.contain([setting.default].flat().join(', ') || 'none');
    }
  });

  it('lists every command and every service', () => {
    for (const { name } of commands) expect(readme, name).to.contain(`annals ${name}`);
    expect(services.map(({ name }) => name)).to.deep.equal(serviceNames);
    for (const { name } of services) expect(readme, name).to.contain(`| \`${name}\``);
  });

  it('names only files that exist', () => {
    const named = [...readme.matchAll(/`((?:adapters|application|domain|projections|test|bin)\/[\w./-]+\.ts)`/g)];
    expect(named.length).to.be.greaterThan(5);
    for (const [, path] of named) readFileSync(new URL(`../../../${path}`, import.meta.url));
  });
});
