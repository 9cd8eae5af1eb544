/** The defaults of all settings, which no start checks. */
import { checkValues } from '../../adapters/system/check-values.js';
import type { Settings } from '../../application/settings.js';
import { settings } from '../../bin/settings.js';

describe('the default', () => {
  for (const [key, setting] of Object.entries<Settings[string]>(settings))
    if (setting.default !== undefined)
      it(`of ${key} is one that could be given`, () => {
        checkValues([{ key, setting, value: setting.default, origin: { from: 'file' } }]);
      });
});
