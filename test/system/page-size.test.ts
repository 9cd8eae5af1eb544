/** The size of the pages of `web/`, as clients load them. */
import { readdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { serviceNames } from '../../bin/settings.js';

const WEB = fileURLToPath(new URL('../../web', import.meta.url));
/** Bytes of all parts of a page, with gzip. */
const LIMIT = 120_000;

describe('pages', () => {
  for (const service of [...serviceNames, 'console'])
    it(`${service}: less than 120 KB compressed`, () => {
      const files = readdirSync(`${WEB}/${service}`).filter((name) => /\.(?:html|gz)$/.test(name));
      expect(files.filter((name) => name.endsWith('.gz'))).to.have.length.of.at.least(3);
      const bytes = files.reduce((sum, name) => sum + statSync(`${WEB}/${service}/${name}`).size, 0);
      expect(bytes).to.be.below(LIMIT);
    });
});
